/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_tip: the tooltip of a frame. Intervals come a moment later than the other figures. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { TreeForm } from "../model/tree";
import { Context } from "./context";
import { frameFacts } from "./frame_facts";
import { useLater } from "./later";

export function Tip(p: { c: Context; form: TreeForm; node: number; x: number; y: number; compared: number }) {
	const box = useRef<HTMLDivElement>(null);
	const full = useLater(() => ({ node: p.node, facts: frameFacts(p.c, p.form, p.node, p.compared) }),
		[p.node, p.c.v, p.compared], 60);
	const facts = full?.node === p.node ? full.facts : frameFacts(p.c, p.form, p.node, 0);
	useLayoutEffect(() => {
		const e = box.current!, w = document.documentElement.clientWidth;
		e.style.left = `${Math.max(8, Math.min(p.x + 14, w - e.offsetWidth - 8))}px`;
		const below = p.y + 18 + e.offsetHeight < window.innerHeight;
		e.style.top = `${below ? p.y + 18 : Math.max(8, p.y - e.offsetHeight - 12)}px`;
	});
	return (
		<div class="tip" ref={box} role="tooltip">
			<strong>{facts.name}</strong>
			<dl>
				{facts.lines.map(([label, text]) => (
					<><dt>{label}</dt><dd>{text}</dd></>
				))}
			</dl>
		</div>
	);
}
