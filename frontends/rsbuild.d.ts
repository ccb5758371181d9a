// What an import of a file is that the bundler makes an address of. After `globals.d.ts`, whose patterns count first.
/// <reference types="@rsbuild/core/types" />
