/** Style rules of a drawing. They replace style attributes, which our Content Security Policy forbids. */
export class StyleRules {
  private readonly classes = new Map<string, string>();

  /** Equal declarations share a class. */
  classOf(declarations: string): string {
    const name = this.classes.get(declarations) ?? `s${this.classes.size}`;
    this.classes.set(declarations, name);
    return name;
  }

  toCss(): string {
    return Array.from(this.classes, ([declarations, name]) => `.${name}{${declarations}}`).join('');
  }
}
