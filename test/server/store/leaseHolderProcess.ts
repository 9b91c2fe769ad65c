// A process that holds the lease and writes under it without end, without a look at the clock. It prints each result, and
// ends with its term. Its argument: the lease's timing.

import { createLeaseHolder } from '../../../src/server/store/leaseHolder.js'
import { createDatabases, openPostgres } from '../../../src/server/store/postgres/postgresEngine.js'
import { createLogger } from '../../../src/service/logger.js'
import { Secret } from '../../../src/service/secret.js'

const say = (line: string) => process.stdout.write(`${line}\n`)
const engine = await openPostgres(createDatabases(new Secret(process.env.DATABASE_URL ?? '')))
const service = createLeaseHolder({
  leases: engine.leases,
  lease: 'trigger',
  holder: 'child',
  timing: JSON.parse(process.argv[2] ?? ''),
  logger: createLogger({ level: 'silent' }),
  async serve(term) {
    for (let n = 0; ; n++) {
      const row = { id: `${n}`, version: 1, isOpen: true, uniqueKey: null, doc: term.fence.term }
      const result = await engine.put('relays', row, term.fence)
      say(result)
      if (result === 'lost-term') break
    }
    term.end()
    say('over')
    setImmediate(() => process.exit(0))
  },
})
await service.start()
