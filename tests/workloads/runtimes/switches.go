// SPDX-License-Identifier: GPL-2.0-or-later
// switches: functions of Go's runtime that run on the stack of the thread, called by main.main
// alone: clocks, and work by systemstack.
package main

import (
	"os"
	"runtime"
	"strconv"
	"time"
)

type box struct{ left *box }

var sum int64
var boxes []*box
var start = time.Now()

//go:noinline
func since() { sum += int64(time.Since(start)) }

//go:noinline
func wall() { sum += time.Now().UnixNano() }

//go:noinline
func finalized() {
	b := &box{}
	runtime.SetFinalizer(b, func(b *box) { b.left = nil })
	boxes = append(boxes[:len(boxes)%100], b)
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	runtime.GOMAXPROCS(1)
	for time.Since(start) < time.Duration(seconds)*time.Second {
		for i := 0; i < 1000; i++ {
			since()
			wall()
		}
		finalized()
	}
}
