import type { z } from 'zod'
import { environmentSchema, variableNotes } from './configSchema.js'

const HEADER = [
  "# The enclave's configuration: `install -m 600 .env.enclave.example .env.enclave`. A file that other users have rights",
  '# on is refused. ENCLAVE_ENV_FILE names it to the program that starts the enclave, which never reads it. A line that is',
  '# commented out shows its default. Checked against the schema by `npm run env:check`.',
]

/** The text of `.env.enclave.example`, from the schema that reads it. */
export function renderEnvExample(): string {
  const variables = Object.entries(environmentSchema.shape).flatMap(([name, schema]) => render(name, schema))
  return `${[...HEADER, ...variables].join('\n')}\n`
}

function render(name: string, schema: z.ZodType): string[] {
  const { section, about, example, fallback } = variableNotes.get(schema) ?? { about: '' }
  return [
    ...(section === undefined ? [] : ['', `# --- ${section} ---`, '']),
    ...(about === '' ? [] : [`# ${about}`]),
    example === undefined ? `# ${name}=${fallback ?? ''}` : `${name}=${example}`,
  ]
}
