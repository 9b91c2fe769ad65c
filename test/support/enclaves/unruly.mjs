// The real enclave, unless a file says otherwise. Arguments: that file, and the enclave's program.
// The file holds how to act up: exit, die, hang, silent, garbage, other-job, lie, babble, huge.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'

const [modeFile, enclave] = process.argv.slice(2)

async function leave(result) {
  const { resultFile } = JSON.parse(await text(process.stdin))
  writeFileSync(resultFile, typeof result === 'string' ? result : JSON.stringify(result))
}

const modes = {
  exit: () => process.exit(3),
  die: () => process.kill(process.pid, 'SIGKILL'),
  hang: () => {
    process.on('SIGTERM', () => undefined)
    setInterval(() => undefined, 1_000)
  },
  silent: () => process.exit(0),
  garbage: () => leave('{"outcome": "settled"'),
  huge: () => leave(`{"outcome": "settled", "code": "${'x'.repeat(10_000_000)}"}`),
  // Well-formed, and no answer to any job.
  'other-job': () => leave({ outcome: 'done', orgId: `0x${'11'.repeat(32)}`, retryAt: -1 }),
  lie: () => leave({ outcome: 'accepted', orgId: `0x${'11'.repeat(32)}`, version: 7 }),
  babble: () => {
    for (let i = 0; i < 2_000; i++) process.stdout.write(`${'x'.repeat(1_000)}\n`)
    process.stderr.write('x'.repeat(1_000_000))
    process.exitCode = 1
  },
}

const act = existsSync(modeFile) ? modes[readFileSync(modeFile, 'utf8')] : undefined
if (act === undefined) await import(enclave)
else await act()
