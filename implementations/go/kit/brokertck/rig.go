// Package brokertck lets broker-tck check an implementation that is written in Go.
//
// A program calls [ServeDelayedDelivery] or [ServeNegativeAcks] in its main function, with a function that makes its
// implementation. The package speaks the protocol of broker-tck on standard input and output, and has the clock, the
// timers, and whatever else the implementation is given. What the program prints goes to standard error.
package brokertck

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A Declaration is what a program says of its implementation before it is asked anything.
type Declaration struct {
	Contract     string         `json:"contract"`
	Profiles     []string       `json:"profiles,omitempty"`     // what it is checked against, at least one
	Capabilities map[string]any `json:"capabilities,omitempty"` // what it lacks or has besides
	Software     string         `json:"software,omitempty"`     // its name and version
	Protocol     int            `json:"protocol"`               // set by Serve
	Levels       []string       `json:"levels"`                 // set by Serve
}

// A Position is the place of a message: its ledger id and its entry id.
type Position [2]int64

// Compare returns -1 if a position comes before another one, 0 if it is the same, 1 if it comes after it.
func (p Position) Compare(other Position) int { return slices.Compare(p[:], other[:]) }

// A Failure is an operation that ended with an error, by the name that rules know it by.
type Failure struct {
	Name    string `json:"error"`
	Message string `json:"message,omitempty"`
}

func (f Failure) Error() string { return f.Name + ": " + f.Message }

// Hang is what an operation comes to that never ends.
var Hang = Failure{Name: "Hang"}

// An Operation is one line of a trace: its name, and its fields.
type Operation struct {
	Name   string
	fields []json.RawMessage
}

// Int returns a field that is a number.
func (o Operation) Int(field int) int64 {
	number, err := strconv.ParseInt(string(o.fields[field]), 10, 64)
	if err != nil {
		panic(err)
	}
	return number
}

// Word returns a field that is a text.
func (o Operation) Word(field int) string {
	var word string
	if err := json.Unmarshal(o.fields[field], &word); err != nil {
		panic(err)
	}
	return word
}

// UnmarshalJSON reads an operation as traces have it: an array, with the name first.
func (o *Operation) UnmarshalJSON(line []byte) error {
	var fields []json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return err
	}
	if len(fields) == 0 {
		return errors.New("an operation has a name")
	}
	o.fields = fields[1:]
	return json.Unmarshal(fields[0], &o.Name)
}

// A Subject does the operations of one trace.
type Subject interface {
	// Do does an operation, and returns its result.
	Do(Operation) any
	// Seen returns what is observed after each operation, in the order of the contract.
	Seen() []any
}

// Attempt returns what f returns. If f panics, that is a Failure, or what f panicked with if that is one.
func Attempt(f func() any) (result any) {
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case Failure:
			result = failed
		case error:
			result = Failure{strings.TrimPrefix(fmt.Sprintf("%T", failed), "*"), failed.Error() + where()}
		default:
			result = Failure{"panic", fmt.Sprint(failed) + where()}
		}
	}()
	return f()
}

// where returns the line that panicked, in brackets. It is called by a deferred function.
func where() string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for panicked, more := false, true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if strings.HasPrefix(frame.Function, "runtime.") {
			panicked = true
		} else if panicked {
			return fmt.Sprintf(" (%s:%d)", filepath.Base(frame.File), frame.Line)
		}
	}
	return ""
}

// Serve speaks the protocol until standard input ends. For each trace it calls trace, which makes a subject of the
// configuration and calls serve with it, once. serve returns when the trace has ended.
func Serve(declared Declaration, trace func(config json.RawMessage, serve func(Subject))) {
	out := os.Stdout
	os.Stdout = os.Stderr // what is printed is no answer
	conversation{bufio.NewReader(os.Stdin), out}.hold(declared, trace)
}

// conversation is the protocol. What breaks it ends the program.
type conversation struct {
	in  *bufio.Reader
	out io.Writer
}

func (c conversation) hold(declared Declaration, trace func(config json.RawMessage, serve func(Subject))) {
	declared.Protocol, declared.Levels = 1, []string{"operations", "traces"}
	c.write(declared)
	line := c.read()
	if line == nil {
		return
	}
	var reply struct{ Error string }
	must(json.Unmarshal(line, &reply))
	if reply.Error != "" {
		must(errors.New(reply.Error))
	}
	for line = c.read(); line != nil; {
		var header struct{ Config json.RawMessage }
		must(json.Unmarshal(line, &header))
		served := false
		trace(header.Config, func(subject Subject) {
			served = true
			for line = c.read(); line != nil && line[0] == '['; line = c.read() {
				var operation Operation
				must(json.Unmarshal(line, &operation))
				c.write(answer(subject, operation))
			}
		})
		if !served {
			must(errors.New("no subject was served"))
		}
	}
}

// read returns the next line; nil at the end.
func (c conversation) read() []byte {
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return nil
	}
	return line
}

func (c conversation) write(message any) {
	line, err := json.Marshal(message)
	must(err)
	_, err = c.out.Write(append(line, '\n'))
	must(err)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "broker-tck:", err)
		os.Exit(2)
	}
}

// answer returns the result of an operation, then what is observed. If that fails, it is the failure alone.
func answer(subject Subject, operation Operation) []any {
	result := Attempt(func() any { return subject.Do(operation) })
	seen := Attempt(func() any { return subject.Seen() })
	if observables, ok := seen.([]any); ok {
		return append([]any{result}, observables...)
	}
	return []any{seen}
}

// serve speaks the protocol with a new subject for each trace. C is the configuration.
func serve[C any](declared Declaration, fresh func(config C) Subject) {
	Serve(declared, func(written json.RawMessage, serve func(Subject)) {
		var config C
		must(json.Unmarshal(written, &config))
		made := Attempt(func() any { return fresh(config) })
		if subject, ok := made.(Subject); ok {
			serve(subject)
		} else {
			serve(unmade{made})
		}
	})
}

// unmade stands for a subject that could not be made.
type unmade struct{ failure any }

func (u unmade) Do(Operation) any { panic(u.failure) }
func (u unmade) Seen() []any      { panic(u.failure) }
