// Types of asset imports, which the bundler resolves to URLs. `globals.d.ts` must come first, so that its
// patterns win.
/// <reference types="@rsbuild/core/types" />
