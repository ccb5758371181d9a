/** Style rules of a drawing: what stands in an attribute of style elsewhere, because no policy can name such an attribute. */
export class StyleRules {
  private readonly classes = new Map<string, string>();

  /** The class that has these declarations. */
  classOf(declarations: string): string {
    const name = this.classes.get(declarations) ?? `s${this.classes.size}`;
    this.classes.set(declarations, name);
    return name;
  }

  toCss(): string {
    return Array.from(this.classes, ([declarations, name]) => `.${name}{${declarations}}`).join('');
  }
}
