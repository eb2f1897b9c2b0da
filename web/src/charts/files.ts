// Files that the page hands to its reader.

/** Comma-separated values: a line for the names, then one for each row. */
export function csv(names: string[], rows: unknown[][]): Blob {
  const cell = (value: unknown): string => {
    const text = value === undefined || value === null ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return new Blob([[names, ...rows].map((row) => row.map(cell).join(",") + "\r\n").join("")], { type: "text/csv" });
}

/** A drawing as a picture, twice as fine as the screen would show it. */
export async function picture(svg: Blob): Promise<Blob> {
  const url = URL.createObjectURL(svg);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * 2;
    canvas.height = image.naturalHeight * 2;
    const context = canvas.getContext("2d");
    if (context === null) throw new Error("This browser draws no pictures.");
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, fail) => canvas.toBlob((blob) => (blob === null ? fail(new Error("This browser makes no pictures.")) : done(blob)), "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}
