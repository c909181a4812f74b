// Command broker-tck lets broker-tck check the tracker of negative acks of this client.
package main

import "github.com/apache/pulsar-client-go/pulsar"

//go:debug asynctimerchan=0
func main() { pulsar.BrokerTck() }
