/** Random IP address, so that tests do not share a rate limit. */
export function randomClientIp(): string {
  return `10.${byte()}.${byte()}.${byte()}`;
}

function byte(): number {
  return Math.floor(Math.random() * 254) + 1;
}
