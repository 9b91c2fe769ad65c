import type { z } from 'zod'
import { environmentSchema, type VariableNotes, variableNotes } from './configSchema.js'

const HEADER = [
  "# The server's configuration: copy to .env, or name another file in ENV_FILE. Real environment variables win.",
  '# A line that is commented out shows its default. Checked against the schema by `npm run env:check`.',
]

/** The text of `.env.example`, from the schema that reads the environment. */
export function renderEnvExample(): string {
  const variables = Object.entries(environmentSchema.shape).flatMap(([name, schema]) =>
    renderVariable(name, schema),
  )
  return `${[...HEADER, ...variables].join('\n')}\n`
}

function renderVariable(name: string, schema: z.ZodType): string[] {
  const notes: VariableNotes = variableNotes.get(schema) ?? { about: '' }
  return [
    ...(notes.section === undefined ? [] : ['', `# --- ${notes.section} ---`, '']),
    ...(notes.about === '' ? [] : [`# ${notes.about}`]),
    notes.example === undefined ? `# ${name}=${notes.fallback ?? ''}` : `${name}=${notes.example}`,
  ]
}
