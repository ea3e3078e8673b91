/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figure: counts, times, sizes and shares as text, in the form of the reports (base/text/figure.h). */
export function count(n: number): string {
	const whole = Math.round(Math.abs(n)).toString();
	return (n < -0.5 ? "-" : "") + whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function counted(n: number, one: string, many: string): string {
	return `${count(n)} ${n === 1 ? one : many}`;
}

export function time(ns: number): string {
	const size = Math.abs(ns);
	if (size >= 1e13)
		return `${(ns / 3600e9).toFixed(2)} h`;
	if (size >= 1e9)
		return `${(ns / 1e9).toFixed(3)} s`;
	if (size >= 1e6)
		return `${(ns / 1e6).toFixed(2)} ms`;
	if (size >= 1e3)
		return `${(ns / 1e3).toFixed(2)} us`;
	return ns ? `${Math.round(ns)} ns` : "0 s";
}

export function bytes(n: number): string {
	const units = ["bytes", "KB", "MB", "GB", "TB"];
	let unit = 0;
	while (Math.abs(n) >= 1000 && unit + 1 < units.length) {
		n /= 1000;
		unit++;
	}
	return `${n.toFixed(unit ? 1 : 0)} ${units[unit]}`;
}

export function share(part: number): string {
	const percent = 100 * part;
	if (Math.abs(percent) < 0.005)
		return "0.0 %";
	return `${percent.toFixed(Math.abs(percent) < 0.05 ? 2 : 1)} %`;
}

/* The difference of two shares. */
export function change(part: number): string {
	return (part > 0 ? "+" : "") + share(part).replace("%", "points");
}

export function amount(n: number, unit: string): string {
	if (unit === "nanoseconds" || unit === "ns")
		return time(n);
	if (unit === "bytes")
		return bytes(n);
	return count(n);
}

/* A moment of a recording: seconds with as many decimals as the length of a cell needs. */
export function moment(ns: number, stepNs: number): string {
	const decimals = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(stepNs, 1)))));
	return `${(ns / 1e9).toFixed(decimals)} s`;
}
