// SPDX-License-Identifier: GPL-2.0-or-later
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.Deflater;

/** What Java programs do: map, sort, match, recurse, compress, allocate. Argument: seconds. */
public class Work {
	static int fill(int n) {
		Map<String, double[]> map = new HashMap<>();
		for (int i = 0; i < n; i++)
			map.put("key" + i, new double[] {i, i * 1.5});
		return map.size();
	}

	static int match(Pattern pattern, String text) {
		int sum = 0;
		Matcher m = pattern.matcher(text);
		while (m.find())
			sum += m.group().length();
		return sum;
	}

	static int recurse(int n) {
		return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
	}

	static Long order(int n) {
		Long[] a = new Long[n];
		for (int i = 0; i < n; i++)
			a[i] = (i * 2654435761L) % 4294967296L;
		Arrays.sort(a, (x, y) -> Long.compare(y, x));
		return a[0];
	}

	static int squeeze(String text) {
		Deflater deflater = new Deflater();
		byte[] out = new byte[65536];
		deflater.setInput(text.getBytes(StandardCharsets.UTF_8));
		deflater.finish();
		int size = deflater.deflate(out);
		deflater.end();
		return size;
	}

	public static void main(String[] args) {
		Pattern pattern = Pattern.compile("(\\w+)-(\\d+)");
		StringBuilder text = new StringBuilder();
		for (int i = 0; i < 2000; i++)
			text.append("word").append(i).append('-').append(i).append(' ');
		long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
		int rounds = 0;
		while (System.nanoTime() < end) {
			fill(2000);
			match(pattern, text.toString());
			recurse(22);
			order(5000);
			squeeze(text.toString());
			rounds++;
		}
		System.out.println(rounds);
	}
}
