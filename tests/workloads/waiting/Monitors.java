// SPDX-License-Identifier: GPL-2.0-or-later

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Monitors: a thread waits for a monitor that another one owns for 10 ms. It logs its waits as truth.h
 * does, without the kernel's counts: a wait of more than 50 us is logged. The runtime waits with a time
 * limit: the releaser is not always the owner.
 */
final class Monitors {
	private static final int ROUNDS = 60;
	private static final Object table = new Object();
	private static final List<String> waits = Collections.synchronizedList(new ArrayList<>());

	private static void log(long from, String waiter, String kind, String by) {
		long ns = System.nanoTime() - from;
		if (ns > 50000)
			waits.add(String.format("{\"waiter\": \"%s\", \"kind\": \"%s\", \"name\": \"\", \"by\": \"%s\","
				+ " \"function\": \"\", \"holder\": \"\", \"from_ns\": %d, \"ns\": %d, \"cpu_ns\": 0,"
				+ " \"blocks\": 0, \"preempted\": 0}", waiter, kind, by, from, ns));
	}

	private static void pause(long ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	private static void own() {
		for (int i = 0; i < ROUNDS; i++) {
			synchronized (table) {
				pause(10);
			}
			pause(5);
		}
	}

	private static void work() {
		for (int i = 0; i < ROUNDS; i++) {
			long from = System.nanoTime();
			synchronized (table) {
				log(from, "worker", "lock", "");
			}
			pause(5);
		}
	}

	public static void main(String[] arguments) throws Exception {
		long begin = System.nanoTime();
		Thread[] threads = {new Thread(Monitors::own, "owner"), new Thread(Monitors::work, "worker")};
		for (Thread thread : threads)
			thread.start();
		for (Thread thread : threads)
			thread.join();
		String path = System.getenv("TRUTH");
		PrintStream to = path == null ? System.out : new PrintStream(path);
		to.printf("{\"program\": \"Monitors\", \"pid\": %d, \"elapsed_ns\": %d, \"path\": [], \"waits\": [%s]}%n",
			ProcessHandle.current().pid(), System.nanoTime() - begin, String.join(",\n", waits));
		to.close();
	}
}
