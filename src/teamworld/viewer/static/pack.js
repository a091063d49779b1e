"use strict";
// What is packed in the page: JSON, deflated, in base64.
(function (tw) {
  /** Read what is packed in an element of the page: JSON, deflated, in base64; null where there is nothing. */
  tw.unpack = async function (element) {
    const text = element.textContent.trim();
    if (!text) return null;
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  };
})(window.teamworld);
