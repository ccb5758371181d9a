import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { expect, test } from 'vitest';

test('the generated types match the API: cargo xtask generate', async () => {
  const { dirname } = import.meta;
  const description = pathToFileURL(join(dirname, '../../../docs/openapi.json'));
  const written = await readFile(join(dirname, 'api.gen.ts'), 'utf8');
  expect(written).toContain(
    astToString(await openapiTS(description, { defaultNonNullable: false })),
  );
});
