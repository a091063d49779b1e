/** Read what is packed in an element of the page: JSON, deflated, in base64; null where there is nothing. */
export async function unpack<Data>(element: HTMLElement): Promise<Data | null> {
  const text = element.textContent?.trim();
  if (!text) return null;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}
