// Command broker-tck lets broker-tck check the tracker of negative acks of this client.

//go:debug asynctimerchan=0
package main

import "github.com/apache/pulsar-client-go/pulsar"

func main() { pulsar.BrokerTck() }
