// SPDX-License-Identifier: GPL-2.0-or-later
// What Go programs do: goroutines, channels, maps, recursion, text. work SECONDS
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

type node struct {
	left, right *node
	key         int
}

//go:noinline
func spin(n int) uint64 {
	var x uint64 = 88172645463325252
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:noinline
func (n *node) insert(key int) *node {
	if n == nil {
		return &node{key: key}
	}
	if key < n.key {
		n.left = n.left.insert(key)
	} else {
		n.right = n.right.insert(key)
	}
	return n
}

//go:noinline
func words(round int) int {
	counts := make(map[string]int)
	for i := 0; i < 400; i++ {
		counts[fmt.Sprintf("word-%d-%s", i%97, strconv.Itoa(round))] += i
	}
	keys := make([]string, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return len(strings.Join(keys, ","))
}

//go:noinline
func worker(jobs <-chan int, results chan<- int, wg *sync.WaitGroup) {
	defer wg.Done()
	for job := range jobs {
		var root *node
		x := job
		for i := 0; i < 300; i++ {
			x = (x*1103515245 + 12345) & 0x7fffffff
			root = root.insert(x)
		}
		results <- words(job) + fib(16) + int(spin(20000)&1)
	}
}

func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	total := 0
	for round := 0; time.Now().Before(end); round++ {
		jobs := make(chan int, 8)
		results := make(chan int, 64)
		var wg sync.WaitGroup
		for i := 0; i < 3; i++ {
			wg.Add(1)
			go worker(jobs, results, &wg)
		}
		for i := 0; i < 32; i++ {
			jobs <- round*32 + i
		}
		close(jobs)
		wg.Wait()
		close(results)
		for r := range results {
			total += r
		}
		total += int(spin(400000) & 1)
	}
	fmt.Println(total)
}
