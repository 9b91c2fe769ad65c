import { renderExample } from '../server/envExample.js'
import { environmentSchema } from './configSchema.js'

const HEADER = [
  "# The configuration of a remote enclave's host: copy to .env.host, or name another file in ENV_FILE. Real environment",
  '# variables win. A line that is commented out shows its default. Checked against the schema by `npm run env:check`.',
]

/** The text of `.env.host.example`, from the schema that reads it. */
export function renderEnvExample(): string {
  return renderExample(HEADER, environmentSchema)
}
