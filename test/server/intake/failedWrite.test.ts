import { expect, test } from 'vitest'
import { createContracts } from '../../../src/chain/contracts.js'
import { createRpc } from '../../../src/chain/rpc.js'
import { createViewCaller } from '../../../src/chain/views.js'
import { commitOf } from '../../../src/protocol/envelope.js'
import { createOrders } from '../../../src/server/intake/orders.js'
import { StorageError } from '../../../src/server/store/engine.js'
import { createOrderRecords } from '../../../src/server/store/orderRecords.js'
import { useChain } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, setUpInstitution } from '../../support/institution.js'
import { openFor, sealOrder } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { createScriptedEnclave } from '../../support/scriptedEnclave.js'
import { createFailingEngine, openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { outcomes, startTrigger } from '../../support/triggerHarness.js'

const chain = useChain(setUpInstitution)
const ORDER = bytes32('an order')

async function setUp() {
  const directory = await temporaryDirectory()
  const root = `${directory}/data`
  const { engine, left } = createFailingEngine((await openStores(root)).engine)
  const records = createOrderRecords({ engine, logger: createLogLines().logger })
  const enclave = await createScriptedEnclave(directory)
  await enclave.plan({ any: [{ outcome: 'placed', retryAt: 4_000_000_000 }] })
  const { trigger, until } = await startTrigger(chain(), enclave, root, { engine, records })
  const { anvil, addresses } = chain()
  const rpc = createRpc({ urls: [anvil.rpcUrl], timeoutMs: 5_000, chainId: anvil.chainId })
  const orders = createOrders({
    records,
    escrow: createContracts(createViewCaller(rpc), addresses).escrow,
    onEscrowSeen: () => undefined,
    onStored: trigger.onStored,
    room: trigger.room,
    knownEscrow: trigger.knownEscrow,
  })
  const post = async (envelope: Awaited<ReturnType<typeof sealOrder>>) =>
    orders.receive({ orderId: ORDER, ...envelope }, 'a client')
  return { post, trigger, until, left }
}

test.each([
  ['was refused', 'writes', 'received'],
  ['happened, though its answer was lost,', 'answers', 'already-received'],
] as const)('an envelope whose write %s runs once it is posted again', async (_what, fault, result) => {
  const { post, trigger, until, left } = await setUp()
  await post(await sealOrder('junk'))
  const envelope = await sealOrder('the real one')
  await openFor(chain(), 'alice', ORDER, envelope)
  await eventually('its escrow', async () => trigger.knownEscrow(ORDER)?.state === 'OPEN')
  left[fault] = 1
  await expect(post(envelope)).rejects.toThrow(StorageError)
  expect(await post(envelope)).toMatchObject({ result, commit: commitOf(envelope) })
  await until(ORDER, 'its run', (record) => outcomes(record)[0] === 'placed')
})
