/** IP address of a test's own, so that no test uses up another one's rate limit. */
export function randomClientIp(): string {
  return `10.${byte()}.${byte()}.${byte()}`;
}

function byte(): number {
  return Math.floor(Math.random() * 254) + 1;
}
