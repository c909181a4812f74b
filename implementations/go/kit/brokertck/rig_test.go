package brokertck

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"
)

// echo is a subject that answers with the operation's name; "bad" fails.
type echo struct{ asked int }

func (e *echo) Seen() []any { return []any{e.asked, []int64{}} }

func (e *echo) Do(o Operation) any {
	e.asked++
	if o.Name == "bad" {
		panic(Failure{"IllegalArgumentException", "it is bad"})
	}
	return o.Name
}

func TestConversation(t *testing.T) {
	asked := `{"protocol":1,"level":"traces"}
{"config":{"tick":1}}
["has"]
["bad"]
{"config":{"tick":2}}
["add",9223372036854775807,-1]
`
	want := `{"contract":"delayed-delivery","protocol":1,"levels":["operations","traces"]}
["has",1,[]]
[{"error":"IllegalArgumentException","message":"it is bad"},2,[]]
["add",1,[]]
`
	var said strings.Builder
	var configs []string
	conversation{bufio.NewReader(strings.NewReader(asked)), &said}.hold(
		Declaration{Contract: "delayed-delivery"}, func(config json.RawMessage, serve func(Subject)) {
			configs = append(configs, string(config))
			serve(&echo{})
		})
	if said.String() != want {
		t.Errorf("said\n%swant\n%s", said.String(), want)
	}
	if got := strings.Join(configs, " "); got != `{"tick":1} {"tick":2}` {
		t.Errorf("configurations: %s", got)
	}
}

func TestOperationHasNumbersOf64Bits(t *testing.T) {
	var o Operation
	if err := json.Unmarshal([]byte(`["inside","nack",9223372036854775807,-9223372036854775808]`), &o); err != nil {
		t.Fatal(err)
	}
	if o.Name != "inside" || o.Word(0) != "nack" || o.Int(1) != 1<<63-1 || o.Int(2) != -1<<63 {
		t.Errorf("%v %q %d %d", o.Name, o.Word(0), o.Int(1), o.Int(2))
	}
}

func TestWhatCannotBeMadeFailsAtEachOperation(t *testing.T) {
	got := answer(unmade{Failure{"TypeError", "no"}}, Operation{Name: "has"})
	if got[0] != (Failure{"TypeError", "no"}) || len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestPanicIsAFailureWithItsLine(t *testing.T) {
	var none []int
	failure, ok := Attempt(func() any { return none[len(none)] }).(Failure)
	if !ok || failure.Name != "runtime.boundsError" || !strings.Contains(failure.Message, "(rig_test.go:") {
		t.Errorf("%v", failure)
	}
	failure, ok = Attempt(func() any { panic("by hand") }).(Failure)
	if !ok || failure.Name != "panic" || !strings.HasPrefix(failure.Message, "by hand (rig_test.go:") {
		t.Errorf("%v", failure)
	}
}
