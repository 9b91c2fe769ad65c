// Actor: a stranger, who founds "Examp1e Capital" and invites a newcomer whom "Example Capital" is about to invite.
// Cost: two transactions.
// Effect: a wallet that joined the wrong institution was trapped. Only the admin could remove it, so it could never join its employer, and
// the stranger's rulebook decided about its trades.
// Now: an institution that the platform has not admitted cannot invite. An invitation shows the admin's address in the API, the command
// line and the page. A wallet that joined can leave by itself, and the admin can neither delay nor prevent that.
import { expect, test } from 'vitest'
import * as z from 'zod'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { clientOf } from '../../src/sandbox/demo.js'
import { DELAYS, INSTITUTION } from '../../src/sandbox/settings.js'
import { personEnv, runCli } from '../e2e/support/cli.js'
import { useDesk } from '../e2e/support/desk.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { callRegistry, createStranger } from './support/actors.js'

const desk = useDesk()
const REAL = nameToBytes32(INSTITUTION)
const FALSE = nameToBytes32('Examp1e Capital')

test('a wallet that joined a look-alike leaves by itself, and joins its employer', async () => {
  const { sandbox, admin, chainTime } = desk()
  const { newcomer, owner } = sandbox.accounts
  const stranger = await createStranger(desk())
  const client = clientOf(sandbox, newcomer)
  /** The server's view, a block later perhaps. */
  const view = () => expect.poll(() => client.getWallet(newcomer.address))
  const env = personEnv(desk(), { account: newcomer }, await temporaryDirectory())

  expect(await callRegistry(desk(), stranger, 'registerInstitution', [FALSE])).toBe(true)
  expect(await callRegistry(desk(), stranger, 'setMember', [newcomer.address, true])).toBe(false)
  await view().toMatchObject({ screen: 'found', invitation: null })

  // The platform's owner is deceived, too.
  expect(await callRegistry(desk(), owner, 'setAdmitted', [FALSE, stranger.address, true])).toBe(true)
  expect(await callRegistry(desk(), stranger, 'setMember', [newcomer.address, true])).toBe(true)
  await view().toMatchObject({ invitation: { orgId: FALSE, admin: stranger.address } })
  const shown = await runCli(['wallet'], env)
  expect(shown.out).toContain(`invited to\tExamp1e Capital\ninvited by\t${stranger.address}\n`)

  await client.joinInstitution(FALSE)
  await expect(admin.inviteMember(newcomer.address)).rejects.toMatchObject({
    code: 'AlreadyInInstitution',
  })

  const left = await runCli(['leave', '--yes', '--json'], env)
  expect(left.exit).toBe(0)
  const { leavingAt } = z.object({ leavingAt: z.int() }).parse(JSON.parse(left.out))
  expect(leavingAt).toBeGreaterThan((await chainTime()) + DELAYS.leave / 2)
  await view().toMatchObject({ orgId: FALSE, leavingAt })
  // Nothing that the stranger does changes the time, and no second leave is armed behind the first.
  expect(await callRegistry(desk(), stranger, 'setMember', [newcomer.address, true])).toBe(false)
  expect(await callRegistry(desk(), stranger, 'transferAdmin', [newcomer.address])).toBe(false)
  expect(await callRegistry(desk(), newcomer, 'leaveInstitution', [])).toBe(false)
  expect(await client.getLeavingAt()).toBe(leavingAt)

  await sandbox.provider.send('evm_increaseTime', [DELAYS.leave])
  await sandbox.provider.send('evm_mine', [])
  await view().toMatchObject({ screen: 'found', orgId: null, leavingAt: null })
  await admin.inviteMember(newcomer.address)
  await view().toMatchObject({ invitation: { orgId: REAL, admin: sandbox.accounts.admin.address } })
  await client.joinInstitution(REAL)
  // The old leave is over: it does not take the wallet out of its employer.
  await view().toMatchObject({ orgId: REAL, role: 'employee', leavingAt: null })
})
