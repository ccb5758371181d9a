/** Path segment of an author's page below `/blog/author/`. */
export function slugOf(role: string): string {
  return role.toLowerCase().replace(/[^a-z]+/g, '-');
}
