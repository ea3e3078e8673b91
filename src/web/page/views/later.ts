/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * later: results that may come after the picture. useLater() gives the last known result, and the new
 * one once the browser has drawn; so a drag shows its flame graph first and its tables right after.
 */
import { useEffect, useRef, useState } from "preact/hooks";

export function useLater<T>(make: () => T, inputs: unknown[], delay = 0): T | null {
	const [found, setFound] = useState<{ value: T } | null>(null);
	const latest = useRef(make);
	latest.current = make;
	useEffect(() => {
		let timer = 0;
		const frame = requestAnimationFrame(() => {
			timer = window.setTimeout(() => setFound({ value: latest.current() }), delay);
		});
		return () => {
			cancelAnimationFrame(frame);
			clearTimeout(timer);
		};
	}, inputs);
	return found && found.value;
}
