// Types of asset imports, which the bundler resolves to URLs. `globals.d.ts` must come first in alphabetical
// order, so that its patterns win.
/// <reference types="@rsbuild/core/types" />
