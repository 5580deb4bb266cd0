/** The icon as a file of its own. */
export const iconSvg = [
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">',
  '<rect x="1" y="1" width="30" height="30" rx="7" fill="#245c6c"/>',
  '<g fill="#fff">',
  '<rect x="10" y="6" width="12" height="2.5" rx="1.25" opacity=".4"/>',
  '<rect x="7.8" y="8.8" width="16.5" height="2.5" rx="1.25" opacity=".65"/>',
  '<rect x="6.3" y="11.8" width="19.5" height="14.2" rx="2"/>',
  "</g>",
  '<path d="m11.2 19 3.2 3.2 6.5-6.6" fill="none" stroke="#df8a2d" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/>',
  "</svg>",
].join("");

/** The icon of the server, its prompts and its views. A client over stdio has no address to load an image from. */
export const icons = [
  {
    src: `data:image/svg+xml;base64,${Buffer.from(iconSvg).toString("base64")}`,
    mimeType: "image/svg+xml",
    sizes: ["any"],
  },
];
