package brokertck

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestRequestsAreToldAsTheProtocolHasIt(t *testing.T) {
	many := make([]Position, 2017)
	for i := range many {
		many[i] = Position{1, int64(i)}
	}
	a, b := Position{0, 1}, Position{0, 2}
	for _, each := range []struct {
		emission
		want string
	}{
		{emission{ids: []Position{a}}, "0"},
		{emission{ids: []Position{a}, made: [][]Position{{a}}}, "1"},
		{emission{ids: []Position{a, a}, made: [][]Position{{a, a}}}, "1"},
		{emission{ids: []Position{a, b}, made: [][]Position{{a}}, failed: true}, "0"},
		{emission{ids: []Position{a}, made: [][]Position{{b}}, failed: true}, "[[[0,2]]]"},
		{emission{ids: []Position{a, b}, made: [][]Position{{a}}}, "[[[0,1]]]"},
		{emission{ids: []Position{a, b}, made: [][]Position{{b}, {a}}}, "[1,1]"},
		{emission{ids: many, made: [][]Position{many}}, "1"},
		{emission{ids: many, made: [][]Position{many[:17], many[17:1017], many[1017:]}}, "[1000,1000,17]"},
		{emission{ids: many, made: [][]Position{many[:1001], many[1001:]}}, "[1001,1016]"},
	} {
		if got, _ := json.Marshal(each.requests()); string(got) != each.want {
			t.Errorf("%d ids, %d requests: %s, want %s", len(each.ids), len(each.made), got, each.want)
		}
	}
}

func TestTimesAreInMillisecondsRoundedUp(t *testing.T) {
	for ns, want := range map[int64]int64{0: 0, 1: 1, 999_999: 1, 1_000_000: 1, 1_000_001: 2} {
		if got := inMs(ns); got != want {
			t.Errorf("%d ns: %d ms, want %d", ns, got, want)
		}
	}
}

func TestBackoffGrowsUpToTheLongest(t *testing.T) {
	grows := NegativeAcksConfig{Multiplier: []float64{100, 1_000, 3}}
	table := NegativeAcksConfig{BackoffMs: []int64{5, 7}}
	for count, want := range map[int64][2]int64{0: {100, 5}, 1: {300, 7}, 2: {900, 7}, 3: {1_000, 7}, 5_000: {1_000, 7}} {
		if got := [2]int64{grows.Backoff(count), table.Backoff(count)}; got != want {
			t.Errorf("%d: %v, want %v", count, got, want)
		}
	}
}

func TestPlacesOfChunks(t *testing.T) {
	if got, want := chunks(1, 9, 3, 2), []Position{{1, 5}, {1, 7}, {1, 9}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := spread(5, 9, 4, 2, 3), []Position{{-1, 9}, {2, 7}, {2, 9}, {5, 9}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// caller is a tracker whose callback is called with its mutex free, and counts who calls it.
type caller struct{ nacks, closes int }

func (c *caller) Add(MessageID)               {}
func (c *caller) AddMessage(MessageID, int64) { c.nacks++ }
func (c *caller) NackedMessagesCount() int    { return c.nacks }
func (c *caller) Close()                      { c.closes++ }

func TestWhatTheApplicationDoesInsideIsDoneOnce(t *testing.T) {
	time := &nackTime{}
	nacks, tracker := NewNacks(time, true), &caller{}
	nacks.Tracker = tracker
	for _, line := range []string{`["inside","nack",0,0,0]`, `["inside","close",0,0,0]`} {
		var o Operation
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		nacks.Do(o)
	}
	for i := 0; i < 2; i++ {
		nacks.OnNegativeAcksSend([]Position{{0, 1}})
	}
	if tracker.nacks != 1 || tracker.closes != 1 {
		t.Errorf("%+v", tracker)
	}
}
