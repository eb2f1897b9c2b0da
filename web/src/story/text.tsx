// The text of stories: *emphasis*, **strong emphasis**, `code`, and [links](#/costs) to views of this page. All else is shown as it is.

import type { ComponentChildren } from "preact";

const inline = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\((#\/[^)\s]*)\)/g;

export function rich(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const found of text.matchAll(inline)) {
    const [all, code, strong, emphasis, name, link] = found;
    if (found.index > end) parts.push(text.slice(end, found.index));
    end = found.index + all.length;
    if (code !== undefined) parts.push(<code>{code}</code>);
    else if (strong !== undefined) parts.push(<strong>{strong}</strong>);
    else if (emphasis !== undefined) parts.push(<em>{emphasis}</em>);
    else parts.push(<a href={link ?? "#/"}>{name}</a>);
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

export function Paragraphs({ text }: { text: string[] }) {
  return <>{text.map((paragraph) => <p>{rich(paragraph)}</p>)}</>;
}
