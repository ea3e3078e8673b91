/* SPDX-License-Identifier: GPL-2.0-or-later */
/* canvas: an empty canvas of the size of its element, in the pixels of the screen. */

/* With a font: texts are placed by their middle. */
export function emptyCanvas(canvas: HTMLCanvasElement, width: number, height: number, font?: string): CanvasRenderingContext2D {
	const ratio = window.devicePixelRatio || 1, g = canvas.getContext("2d")!;
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	g.setTransform(ratio, 0, 0, ratio, 0, 0);
	if (font) {
		g.font = font;
		g.textBaseline = "middle";
	}
	return g;
}
