// Actor: an operator who starts a second server with the first one's relayer key, or a thief of that key.
// Cost: nothing.
// Effect: the two servers took each other's nonces (25 "nonce lost" among 60 posts, p90 of 6 s), and both reported themselves as healthy.
// A thief's transactions showed nowhere.
// Now: `/readyz`, a metric, an alert and the log report that the key is used elsewhere, even while the server is idle.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bodyOf } from '../server/relay/relayUnderTest.js'
import { batchMint } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { AAPL, setUpInstitution, shares } from '../support/institution.js'
import { chainEnvironment } from '../support/intakeServer.js'
import { metricsOf, readinessOf } from '../support/ops.js'
import { ENCLAVE_SIGNER, ROLES } from '../support/roles.js'
import { createScriptedEnclave } from '../support/scriptedEnclave.js'
import { SERVER_ENVIRONMENT } from '../support/serverEnvironment.js'
import { type ServerProcess, startServerProcess } from '../support/serverProcess.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const chain = useChain(setUpInstitution)
/** Longer than the pause between two looks of a server that has nothing to do, which is 30 seconds. */
const LOOK_MS = 60_000

async function start(): Promise<ServerProcess> {
  const directory = await temporaryDirectory()
  await mkdir(join(directory, 'data'))
  // Readiness asks for the enclave, too.
  const enclave = await createScriptedEnclave(directory)
  return startServerProcess({
    ...chainEnvironment(chain()),
    ENCLAVE_URL: enclave.url,
    ENCLAVE_SIGNER,
    RELAYER_PRIVATE_KEY: chain().anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? '',
    DATA_DIR: join(directory, 'data'),
  })
}

async function post(server: ServerProcess, batch: bigint): Promise<unknown> {
  const authorization = batchMint(AAPL, shares(5), { batch, expectedSupply: shares(5) * (batch - 1n) })
  const response = await fetch(`${server.url}/relay`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}`,
    },
    body: JSON.stringify(bodyOf(chain(), authorization)),
  })
  return (await response.json()).status
}

async function foreignTransactions(server: ServerProcess): Promise<number | undefined> {
  return (await metricsOf(server.opsUrl)).find('trading_relayer_foreign_transactions_total')
}

test('a server does not suspect itself, and notices a transaction of its key while it has nothing to do', async () => {
  const server = await start()
  for (let batch = 1n; batch <= 3n; batch++) expect(await post(server, batch)).toBe('confirmed')
  expect(await foreignTransactions(server)).toBe(0)
  const from = chain().account('relayer')
  await chain().provider.send('eth_sendTransaction', [{ from, to: chain().account('dave'), value: '0x1' }])
  await expect
    .poll(() => readinessOf(server.opsUrl), { timeout: LOOK_MS, interval: 200 })
    .toMatchObject({ code: 200, status: 'degraded', faults: { relayer: 'key-used-elsewhere' } })
  await expect.poll(() => server.output()).toContain('relayer key used elsewhere')
  // Its own three have lower nonces, so the look that found the foreign one has seen them too.
  expect(await foreignTransactions(server)).toBe(1)
})
