// Actor: the admin herself, on another machine or with a file older than the rulebook, or a colluding employee who hands her such a file.
// Cost: nothing.
// Effect: version 2 barred Ada from TSLA and allowed at most 20,000 USDC. The chain gives no rulebook back, so the form began with everything
// allowed and 25,000. One button published that as version 3, without a word about the rules that it lifted.
// Now: a publication leaves a copy, sealed to the admin's own key, which she can export and import. Each publication first shows what it adds,
// lifts and tightens. One that lifts rules, or whose base is unknown, needs a confirmation. The signature names the version on which the
// rulebook is based. (For the page: test/browser/rulebook.test.ts.)
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { publishRulebook } from '../../src/client/admin.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { clientOf } from '../../src/sandbox/demo.js'
import { INSTITUTION } from '../../src/sandbox/settings.js'
import { personEnv, runCli } from '../e2e/support/cli.js'
import { useDesk } from '../e2e/support/desk.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const desk = useDesk()
const ORG = nameToBytes32(INSTITUTION)
const free = { canBuy: true, canSell: true, restricted: [] as string[] }

/** The admin's command line, on a machine of its own. */
async function machine() {
  const directory = await temporaryDirectory()
  const env = personEnv(desk(), { account: desk().sandbox.accounts.admin }, directory)
  return {
    policy: (...args: string[]) => runCli(['policy', ...args], env),
    async file(name: string, content: object): Promise<string> {
      const path = join(directory, name)
      await writeFile(path, JSON.stringify(content))
      return path
    },
  }
}

const ada = () => desk().traders[0]

/** The file of a rulebook, with rules of Ada's own. */
function rulebook({ restricted = [] as string[], most = 25_000n, allowWithdrawShares = false } = {}) {
  const employees = desk().traders.map(({ account }) => [account.address, free] as const)
  return {
    employees: { ...Object.fromEntries(employees), [ada().account.address]: { ...free, restricted } },
    maxOrderNotional: String(most * ONE_USDC),
    allowWithdrawShares,
  }
}

const versionInForce = () => desk().contracts.ledger.policyVersion(ORG)

async function reasonOfTsla(): Promise<string | undefined> {
  return ada().reason(await ada().trade({ side: 'BUY', symbol: 'TSLA', usdc: 100n * ONE_USDC }))
}

it('a rulebook’s file that allows everything lifts no restriction in silence', async () => {
  const office = await machine()
  const strict = await office.file('strict.json', rulebook({ restricted: ['TSLA'], most: 20_000n }))
  // Version 1 was published elsewhere: what replaces it cannot be told, and is said to be so.
  const blind = await office.policy(strict)
  expect({ exit: blind.exit, version: await versionInForce() }).toEqual({ exit: 2, version: 1 })
  expect(blind.err).toContain('WARNING: This machine has no copy of version 1.')
  expect((await office.policy(strict, '--yes')).exit).toBe(0)
  expect(await versionInForce()).toBe(2)

  const open = await office.file('open.json', rulebook())
  const asked = await office.policy(open)
  expect({ exit: asked.exit, version: await versionInForce() }).toEqual({ exit: 2, version: 2 })
  expect(asked.err).toContain(`lifted     ${ada().account.address} may now trade TSLA\n`)
  expect(asked.err).toContain('lifted     an order may be at most 25,000 USDC (was 20,000 USDC)\n')
  expect(asked.err).toContain('it lifts 2 of the rules of version 2')
  // Not a word of progress is asked for, and still no rule is lifted.
  expect((await office.policy(open, '--quiet')).exit).toBe(2)
  expect(await reasonOfTsla()).toBe('restricted-symbol')

  // A rulebook that only tightens goes through with its difference shown.
  const stricter = await office.file('stricter.json', rulebook({ restricted: ['TSLA'], most: 15_000n }))
  const tightened = await office.policy(stricter)
  expect({ exit: tightened.exit, version: await versionInForce() }).toEqual({ exit: 0, version: 3 })
  expect(tightened.err).toContain('tightened  an order may be at most 15,000 USDC (was 20,000 USDC)\n')
})

it('another machine knows of no rule until it has a copy of the rulebook, which tells nobody else its rules', async () => {
  const office = await machine()
  const strict = await office.file('strict.json', rulebook({ restricted: ['TSLA'], most: 20_000n }))
  expect((await office.policy(strict, '--yes')).exit).toBe(0)
  const version = await versionInForce()
  const { out: copy } = await office.policy('export')
  expect(copy.toLowerCase()).not.toContain(ada().account.address.slice(2).toLowerCase())

  const home = await machine()
  const open = await home.file('open.json', rulebook())
  expect((await home.policy(open)).err).toContain(`the rules of version ${version} that it lifts are unknown`)
  expect((await home.policy('import', await home.file('copy.json', JSON.parse(copy)))).exit).toBe(0)
  expect((await home.policy(open)).err).toContain('it lifts 2 of the rules')

  // The copy serves until another rulebook is in force.
  const next = await office.file('next.json', rulebook({ restricted: ['TSLA'] }))
  expect((await office.policy(next, '--yes')).exit).toBe(0)
  const late = await home.policy(open)
  expect(late.exit).toBe(2)
  expect(late.err).toContain(`WARNING: This machine has no copy of version ${version + 1}.`)
})

it('a rulebook that was written from an older version does not replace what has come since', async () => {
  const { sandbox, admin } = desk()
  const base = await versionInForce()
  const rules = (restricted: string[]) => {
    const employees = { [ada().account.address]: { ...free, restricted } }
    return { employees, maxOrderNotional: 20_000n * ONE_USDC, allowWithdrawShares: false }
  }
  const [office, home] = [admin, clientOf(sandbox, sandbox.accounts.admin)]
  expect(await publishRulebook(office, rules(['TSLA']), { base })).toMatchObject({ version: base + 1 })
  await expect(publishRulebook(home, rules([]), { base })).rejects.toMatchObject({
    code: 'policy-rejected',
    problem: { reason: 'version-conflict' },
  })
  expect(await reasonOfTsla()).toBe('restricted-symbol')
})
