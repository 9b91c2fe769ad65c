import type { z } from 'zod'
import { environmentSchema } from './configSchema.js'
import { type VariableNotes, variableNotes } from './configVariable.js'

const HEADER = [
  "# The server's configuration: `install -m 600 .env.example .env`, or name another file in ENV_FILE. A file that other",
  '# users have rights on is refused. Real environment variables win. A line that is commented out shows its default.',
  '# Checked against the schema by `npm run env:check`.',
]

/** The text of `.env.example`, from the schema that reads the environment. */
export function renderEnvExample(): string {
  return renderExample(HEADER, environmentSchema)
}

/** The text of a file that lists a schema's variables below a header. */
export function renderExample(
  header: readonly string[],
  schema: z.ZodObject<Record<string, z.ZodType>>,
): string {
  const variables = Object.entries(schema.shape).flatMap(([name, variable]) => renderVariable(name, variable))
  return `${[...header, ...variables].join('\n')}\n`
}

function renderVariable(name: string, schema: z.ZodType): string[] {
  const notes: VariableNotes = variableNotes.get(schema) ?? { about: '' }
  return [
    ...(notes.section === undefined ? [] : ['', `# --- ${notes.section} ---`, '']),
    ...(notes.about === '' ? [] : [`# ${notes.about}`]),
    notes.example === undefined ? `# ${name}=${notes.fallback ?? ''}` : `${name}=${notes.example}`,
  ]
}

/** The same as a Markdown table, its columns aligned, for the README. */
export function renderConfigurationTable(): string {
  const rows = [['Variable', 'Default', 'Meaning']]
  let about = ''
  for (const [name, schema] of Object.entries(environmentSchema.shape)) {
    const notes: VariableNotes = variableNotes.get(schema) ?? { about: '' }
    // A variable without words of its own belongs to the one above it.
    about = notes.about === '' ? about : notes.about
    rows.push([`\`${name}\``, defaultOf(notes), about])
  }
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  rows.splice(
    1,
    0,
    widths.map((width) => '-'.repeat(width)),
  )
  return rows
    .map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
    .join('\n')
}

function defaultOf({ example, fallback }: VariableNotes): string {
  if (example !== undefined) return '**required**'
  return fallback === undefined ? '' : `\`${fallback}\``
}
