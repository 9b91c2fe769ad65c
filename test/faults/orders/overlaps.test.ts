import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { bytes32 } from '../../support/institution.js'
import { offer, orderJob, startResultServer } from '../../support/residentHarness.js'
import { startResidentProcess } from '../../support/residentProcess.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { createNotes } from './notes.js'

test('a run that is offered beside another of its account is listed; one that has ended and is offered again is not', async () => {
  const bench = await temporaryDirectory()
  for (const name of ['accounts', 'acts', 'acted']) await mkdir(join(bench, name))
  const [order, other] = [bytes32('an order'), bytes32('another of its account')]
  for (const orderId of [order, other]) await writeFile(join(bench, 'accounts', orderId), 'an account')
  const isOver = join(bench, 'over')
  const server = await startResultServer()
  const enclave = await startResidentProcess({
    directory: bench,
    serverUrl: server.url,
    plan: { [order]: [{}, { untilFile: isOver }], [other]: [{ untilFile: isOver }] },
    preload: new URL('enclave.mjs', import.meta.url).href,
    variables: { FAULTS_BENCH: bench, FAULTS_BENCH_PID: String(process.pid) },
  })
  const { overlaps } = createNotes(bench)
  const { url = '' } = enclave
  // 1: a run ends. 2: the next one of its order is under way.
  const [ended, underWay] = [await orderJob({ orderId: order }), await orderJob({ orderId: order })]
  expect((await offer(url, ended)).answer).toMatchObject({ result: 'accepted' })
  await eventually('the end of the first run', () => server.results().length === 1)
  expect((await offer(url, underWay)).answer).toMatchObject({ result: 'accepted' })
  // 3: a server that stood still before it offered the first run goes on. Another one has offered that run meanwhile.
  expect((await offer(url, ended)).answer).toMatchObject({ result: 'already-accepted' })
  expect(await overlaps()).toEqual([])
  // 4 and 5: a server has lost the run, and offers a new one of the same order, then of another.
  expect((await offer(url, await orderJob({ orderId: order }))).status).toBe(409)
  expect((await offer(url, await orderJob({ orderId: other }))).answer).toMatchObject({ result: 'accepted' })
  expect(await overlaps()).toEqual(
    [order, other].map((orderId) => `${orderId} was offered beside ${order}, both of an account`),
  )
})
