import { writeFile } from 'node:fs/promises'
import request from 'supertest'
import { expect, test } from 'vitest'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { chainEnvironment, enclaveEnvironment, openFor, sealOrder } from '../../support/intakeServer.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { startServerProcess } from '../../support/serverProcess.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const chain = useChain(setUpInstitution)
const [A, B] = [bytes32('A'), bytes32('B')]

test('a server that is killed in the middle of a run leaves everything to the next one', async () => {
  const directory = await temporaryDirectory()
  const enclave = await createScriptedEnclave(directory)
  const notice = await sealOrder('why')
  await enclave.plan({
    [A]: [
      {
        early: { notice },
        untilFile: `${directory}/go`,
        outcome: 'placed',
        retryAt: 4_000_000_000,
      },
    ],
  })
  const environment = {
    ...chainEnvironment(chain()),
    ...enclaveEnvironment(enclave),
    DATA_DIR: `${directory}/data`,
  }
  const first = await startServerProcess(environment)
  enclave.postTo(first.url)
  await eventually("the first server's start", () => first.output().includes('open orders read'))
  const [a, b] = [await sealOrder('A'), await sealOrder('B')]
  await request(first.url)
    .post('/orders')
    .send(await openFor(chain(), 'alice', A, a))
    .expect(202)
  await eventually('the run', async () => (await enclave.jobs()).length === 1)
  await request(first.url)
    .post('/orders')
    .send(await openFor(chain(), 'alice', B, b))
    .expect(202)
  await first.kill()

  const second = await startServerProcess(environment)
  enclave.postTo(second.url)
  await eventually('the look at the chain', () => second.output().includes('open orders read'))
  expect(await enclave.jobs()).toHaveLength(1)
  await writeFile(`${directory}/go`, '')
  const status = async (orderId: string) => (await request(second.url).get(`/orders/${orderId}`)).body
  await eventually('the second order', async () => (await status(B)).triggers[0]?.outcome)
  expect(await status(A)).toMatchObject({ triggers: [{ attempt: 1, reason: 'received', outcome: 'placed' }] })
  expect(await status(B)).toMatchObject({ triggers: [{ attempt: 1, reason: 'restart', outcome: 'placed' }] })

  expect(second.output()).not.toContain(a.ct.slice(2))
  expect(second.output()).not.toContain(notice.ct.slice(2))
}, 120_000)
