/* SPDX-License-Identifier: GPL-2.0-or-later */
/* width: the width of an element in pixels, also after it changes; 0 before it is known. */
import { useLayoutEffect, useState } from "preact/hooks";

export function useWidth(element: { current: HTMLElement | null }): number {
	const [width, setWidth] = useState(0);
	useLayoutEffect(() => {
		const measure = () => setWidth(element.current?.clientWidth ?? 0);
		const observer = new ResizeObserver(measure);
		measure();
		observer.observe(element.current!);
		return () => observer.disconnect();
	}, []);
	return width;
}
