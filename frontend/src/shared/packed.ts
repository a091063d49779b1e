/** Characters of data from which on a page lets them go once read; below, a browser that saves the page keeps them. */
const LARGE = 4_000_000;

/** Take the text of an element that holds data: a large one is not kept beside what is read of it. */
export function takeText(element: HTMLElement): string {
  const text = element.textContent ?? "";
  if (text.length > LARGE) element.textContent = "";
  return text;
}

/** Read what is packed in an element of the page: JSON, deflated, in base64; null where there is nothing. */
export async function unpack<Data>(element: HTMLElement): Promise<Data | null> {
  const text = takeText(element).trim();
  if (!text) return null;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}
