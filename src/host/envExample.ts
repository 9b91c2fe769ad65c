import { renderExample } from '../server/envExample.js'
import { environmentSchema } from './configSchema.js'

const HEADER = [
  "# The configuration of an enclave's host: `install -m 600 .env.host.example .env.host`, or name another file in ENV_FILE.",
  '# A file that other users have rights on is refused. Real environment variables win. A line that is commented out shows',
  '# its default. Checked against the schema by `npm run env:check`.',
]

/** The text of `.env.host.example`, from the schema that reads it. */
export function renderEnvExample(): string {
  return renderExample(HEADER, environmentSchema)
}
