import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { toBeHex } from 'ethers'
import { onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { built } from '../../support/built.js'
import { INTERFACES, useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { setUpInstitution } from '../../support/institution.js'
import { chainEnvironment } from '../../support/intakeServer.js'
import { runtimeEnvironment } from '../../support/runtimeEnvironment.js'
import { SERVER_ENVIRONMENT } from '../../support/serverEnvironment.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { cursorOf } from './narratorUnderTest.js'

const chain = useChain(setUpInstitution)

/** The real server, whose narration and log go to one pipe. */
function startServer(dataDir: string) {
  const child = spawn('/bin/sh', ['-c', 'exec "$0" "$@" 2>&1', process.execPath, built('server/main.js')], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...runtimeEnvironment(),
      ...SERVER_ENVIRONMENT,
      ...chainEnvironment(chain()),
      LOG_LEVEL: 'debug',
      DATA_DIR: dataDir,
    },
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.stdout.resume()
    child.kill('SIGKILL')
    await ended
  })
  return { text: () => text, pipe: child.stdout }
}

const lineSchema = z.looseObject({ kind: z.string().optional(), level: z.int().optional() })
const linesOf = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => lineSchema.parse(JSON.parse(line)))

test('lines of narration and log stay whole in one pipe, also while it is not read', {
  timeout: 120_000,
}, async () => {
  const { provider, account, addressOf } = chain()
  const dataDir = await temporaryDirectory()
  const events = 1_200
  const { text, pipe } = startServer(dataDir)
  const before = await provider.getBlockNumber()
  await eventually('the cursor', () => cursorOf(dataDir) === before)
  const port = await eventually('its port', () => /"port":(\d+).*"listening"/.exec(text())?.[1])
  const ask = () => fetch(`http://127.0.0.1:${port}/nothing`)
  pipe.pause()
  await provider.send('evm_setAutomine', [false])
  const call = { from: account('owner'), to: addressOf('token'), gas: '0x11170' }
  const clear = (wallet: string) => INTERFACES.token.encodeFunctionData('setKyc', [wallet, true])
  for (let sent = 0; sent < events; sent += 100) {
    const wallets = Array.from({ length: 100 }, (_, index) => toBeHex(sent + index + 1, 20))
    const calls = wallets.map((wallet) => ({ ...call, data: clear(wallet) }))
    await Promise.all(calls.map((each) => provider.send('eth_sendTransaction', [each])))
  }
  await provider.send('evm_setAutomine', [true])
  await provider.send('anvil_mine', ['0x20'])
  // It goes no further than to the first lines that the pipe does not take.
  await eventually('narration to begin', () => cursorOf(dataDir) > before)
  for (let request = 0; request < 20; request++) await ask()
  pipe.resume()
  await eventually(
    'all lines',
    () => linesOf(text()).filter(({ kind }) => kind === 'event').length === events,
  )
  for (let request = 0; request < 5; request++) await ask()
  await eventually('the log of the requests', () => linesOf(text()).filter(({ level }) => level).length >= 25)
})
