// Writes the env examples and the table in docs/configuration.md from their schemas. With --check, fails if one
// differs.
import * as attested from '../src/enclave/attested/settings.js'
import * as enclave from '../src/enclave/configSchema.js'
import * as server from '../src/server/config/schema.js'
import { renderConfigurationTable, renderEnvExample } from '../src/service/config.js'
import { type GeneratedFile, writeOrCheck } from './generated.js'

const TABLE = /(?<=<!-- configuration: npm run env -->\n)[\s\S]*?(?=<!-- end -->)/

const files: GeneratedFile[] = [
  ['.env.example', () => renderEnvExample(server.ENV_EXAMPLE_HEADER, server.environmentSchema)],
  ['.env.enclave.example', () => renderEnvExample(enclave.ENV_EXAMPLE_HEADER, enclave.environmentSchema)],
  [
    '.env.attested.example',
    () =>
      renderEnvExample(attested.ATTESTED_ENV_EXAMPLE_HEADER, attested.attestedSchema(['nitrotpm', 'dstack'])),
  ],
  [
    'docs/configuration.md',
    (present) => present.replace(TABLE, `\n${renderConfigurationTable(server.environmentSchema)}\n\n`),
  ],
]

writeOrCheck(files, 'the schema', 'npm run env')
