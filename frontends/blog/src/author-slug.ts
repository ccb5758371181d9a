/** The address of an author's page below `/blog/author/`, by the role. */
export function slugOf(role: string): string {
  return role.toLowerCase().replace(/[^a-z]+/g, '-');
}
