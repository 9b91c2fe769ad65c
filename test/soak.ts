// npm run test:soak [-- storm --seed 7 --minutes 10 --servers 1]
// npm run test:soak -- sweeps
import { Command } from 'commander'
import * as z from 'zod'
import { parsedBy } from '../src/terminal/arguments.js'
import { soakSweeps } from './enclave/soak.js'
import { soakStorm } from './faults/soak.js'

const count = parsedBy(z.coerce.number<string>().pipe(z.int().positive()))
const end = (isClean: boolean) => {
  process.exitCode = isClean ? 0 : 1
}
const root = new Command('npm run test:soak --')
root
  .command('storm', { isDefault: true })
  .option('--seed <number>', 'repeats a plan', count, Math.floor(Math.random() * 1_000_000_000) + 1)
  .option('--minutes <number>', 'its length', count, 10)
  .option('--servers <number>', '1 or 3', count, 1)
  .action(async (size) => end(await soakStorm(size, (line) => process.stdout.write(`${line}\n`))))
root.command('sweeps').action(async () => end(await soakSweeps()))
await root.parseAsync()
