if (typeof DecompressionStream === "undefined")
	document.getElementById("assay").innerText =
		"This browser cannot show the page: it has no DecompressionStream. Browsers since 2023 have it: " +
		"Chrome and Edge 80, Safari 16.4, Firefox 113, and newer ones. The same report as text: assay report FILE";
