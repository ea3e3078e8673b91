// SPDX-License-Identifier: GPL-2.0-or-later

// channels: a goroutine with a thread of its own waits for values of a channel, which another one
// sends every 10 ms. The runtime decides which thread wakes it. It logs its waits as truth.h does.
package main

import (
	"encoding/json"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

const values = 90
const rusageThread = 1

type wait struct {
	Waiter    string `json:"waiter"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	By        string `json:"by"`
	Function  string `json:"function"`
	Holder    string `json:"holder"`
	From      int64  `json:"from_ns"`
	Ns        int64  `json:"ns"`
	Cpu       int64  `json:"cpu_ns"`
	Blocks    int64  `json:"blocks"`
	Preempted int64  `json:"preempted"`
}

type truth struct {
	Program string   `json:"program"`
	Pid     int      `json:"pid"`
	Elapsed int64    `json:"elapsed_ns"`
	Waits   []wait   `json:"waits"`
	Path    []string `json:"path"`
}

func clock(number uintptr) int64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, number, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func mark() wait {
	var r syscall.Rusage
	syscall.Getrusage(rusageThread, &r)
	return wait{From: clock(1), Cpu: clock(3), Blocks: r.Nvcsw, Preempted: r.Nivcsw}
}

func receive(from chan int, waits *[]wait) {
	a := mark()
	<-from
	b := mark()
	if b.Blocks > a.Blocks {
		*waits = append(*waits, wait{"receiver", "lock|condition", "", "", "", "", a.From, b.From - a.From,
			b.Cpu - a.Cpu, b.Blocks - a.Blocks, b.Preempted - a.Preempted})
	}
}

func receiver(from chan int, done chan []wait) {
	var waits []wait
	name := []byte("receiver\x00")
	runtime.LockOSThread()
	syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0)
	for i := 0; i < values; i++ {
		receive(from, &waits)
	}
	done <- waits
}

func main() {
	begin := clock(1)
	numbers, done := make(chan int), make(chan []wait)
	go receiver(numbers, done)
	for i := 0; i < values; i++ {
		time.Sleep(10 * time.Millisecond)
		numbers <- i
	}
	waits := <-done
	to := os.Stdout
	if path := os.Getenv("TRUTH"); path != "" {
		to, _ = os.Create(path)
	}
	json.NewEncoder(to).Encode(truth{"channels", os.Getpid(), clock(1) - begin, waits, []string{}})
}
