import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DCLinter } from 'dclint'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { readCompose, readUnit } from './support/deployments.js'
import { temporaryDirectory } from './support/temporaryDirectory.js'

// Neither Compose nor systemd runs here: their files are read, and linted by what there is.

const run = promisify(execFile)
/** The linter's other rules are of taste, or want tags for images that are built here. */
const RULES: readonly string[] = [
  ...['invalid-schema', 'invalid-yaml', 'no-duplicate-container-names', 'no-duplicate-exported-ports'],
]
const reportSchema = z.tuple([z.object({ messages: z.array(z.object({ rule: z.string() })) })])
const UNITS = ['trading-server', 'trading-enclave'] as const

/** A command's output on both streams, null where the system has no such command. */
async function saidBy(program: string, args: readonly string[]): Promise<string | null> {
  try {
    const { stdout, stderr } = await run(program, args)
    return stdout + stderr
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** Where the units find Node, once the project is installed there. */
const INSTALLED_NODE = '/opt/confidential-trading/node_modules/.bin/node'

describe('the systemd units', () => {
  test('are in order, as far as systemd-analyze can tell', async () => {
    const directory = await temporaryDirectory()
    const paths = UNITS.map((name) => join(directory, `${name}.service`))
    for (const [index, name] of UNITS.entries()) {
      const unit = await readFile(`deploy/systemd/${name}.service`, 'utf8')
      // systemd looks whether the program is there, and it is not installed on the machine that tests.
      await writeFile(paths[index] ?? '', unit.replace(INSTALLED_NODE, process.execPath))
    }
    expect(await saidBy('systemd-analyze', ['verify', ...paths])).toBeOneOf([null, ''])
  })

  test.each(UNITS)('confine %s', (name) => {
    const on = ['NoNewPrivileges', 'ProtectHome', 'PrivateTmp', 'PrivateDevices', 'RestrictSUIDSGID']
    const variable = name === 'trading-server' ? 'DATA_DIR' : 'ENCLAVE_STATE_DIR'
    expect(Object.fromEntries(readUnit(name))).toMatchObject({
      ...{ ProtectSystem: 'strict', CapabilityBoundingSet: '', ProtectProc: 'invisible', UMask: '0077' },
      ...Object.fromEntries(on.map((setting) => [setting, 'yes'])),
      // A core dump holds the keys.
      LimitCORE: '0',
      ...{ StateDirectory: name, StateDirectoryMode: '0700' },
      Environment: expect.stringContaining(`${variable}=/var/lib/${name}`),
    })
  })

  test('let no more into each than its own files', () => {
    const hidden = (name: string) => new Map(readUnit(name)).get('InaccessiblePaths')
    expect(hidden('trading-server')).toContain('enclave.env')
    expect(hidden('trading-enclave')).toContain('server.env')
  })

  test('start the programs that are built, the server without an enclave of its own', async () => {
    const scripts = await readFile('package.json', 'utf8')
    for (const name of UNITS) {
      const [node, ...program] = (new Map(readUnit(name)).get('ExecStart') ?? '').split(' ')
      expect(node).toBe(INSTALLED_NODE)
      expect(scripts).toContain(`"node ${program.join(' ')}"`)
    }
    expect(new Map(readUnit('trading-server')).get('Environment')).toContain(
      'ENCLAVE_URL=http://127.0.0.1:8700/',
    )
  })

  test('have their users made by systemd-sysusers', async () => {
    const text = await readFile('deploy/systemd/confidential-trading.sysusers.conf', 'utf8')
    const made = [...text.matchAll(/^u (\S+) /gm)].map(([, name]) => name)
    expect(made).toEqual(UNITS.map((name) => new Map(readUnit(name)).get('User')))
    const said = await saidBy('systemd-sysusers', [
      '--dry-run',
      join(process.cwd(), 'deploy/systemd/confidential-trading.sysusers.conf'),
    ])
    for (const name of said === null ? [] : UNITS) expect(said).toContain(name)
  })
})

const COMPOSED = {
  'compose.yaml': ['network', 'balancer', 'server', 'enclave'],
  'compose.servers.yaml': ['network', 'balancer', 'database', 'enclave', 'server-1', 'server-2', 'server-3'],
}

describe.each(Object.entries(COMPOSED))('%s', (file, expected) => {
  test('is as the Compose specification says', async () => {
    const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] })
    const [{ messages }] = reportSchema.parse(await linter.lintFiles([`deploy/${file}`], false))
    expect(messages.map(({ rule }) => rule).filter((rule) => RULES.includes(rule))).toEqual([])
  })

  test('confines each container, and pins the images of others by their digests', () => {
    const { services } = readCompose(file)
    expect(Object.keys(services).toSorted()).toEqual(expected.toSorted())
    for (const [name, service] of Object.entries(services)) {
      expect(service, name).toMatchObject({
        ...{ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
        // Caddy's image has no user of its own. Its root has one capability.
        cap_add: name === 'balancer' ? ['NET_BIND_SERVICE'] : [],
      })
      expect(service.network_mode, name).toBe(name === 'network' ? undefined : 'service:network')
      if (name !== 'balancer') expect(service.user, name).toMatch(/^(\d{2,}:\d{2,}|postgres)$/)
      if (name === 'balancer' || name === 'database')
        expect(service.image, name).toMatch(/^\w+:\d+\.\d+(\.\d+)?-\w+@sha256:[0-9a-f]{64}$/)
    }
  })
})

describe('the Compose file', () => {
  const { services } = readCompose()

  test('puts TLS in front of the server, which believes this one proxy', async () => {
    const { environment } = services.server ?? {}
    expect(environment?.TRUST_PROXY).toBe('1')
    expect(services.balancer?.environment.SERVERS).toBe(`127.0.0.1:${environment?.PORT}`)
    expect(services.balancer?.environment.RELAYS).toBe(`127.0.0.1:${environment?.RELAY_PORT}`)
    expect(services.network?.ports).toEqual(['80:80', '443:443'])
    const caddyfile = await readFile('deploy/Caddyfile', 'utf8')
    expect(caddyfile).toContain('{$SITE} {')
    expect(caddyfile).toContain('reverse_proxy {$SERVERS} {')
    // The enclave's RELAY_URL.
    expect(caddyfile).toContain(`http://:8002 {\n\tbind 127.0.0.1\n\treverse_proxy {$RELAYS} {`)
    expect(environment?.RELAY_PORT).not.toBe('8002')
  })

  test('has server and enclave share no volume', () => {
    const ofServer = new Set(services.server?.volumes.map((volume) => volume.split(':')[0]))
    expect(services.enclave?.volumes.filter((volume) => ofServer.has(volume.split(':')[0]))).toEqual([])
  })
})

describe('the Compose file of three servers', () => {
  const { services } = readCompose('compose.servers.yaml')
  const servers = Object.entries(services).filter(([name]) => name.startsWith('server-'))

  test('gives each server ports of its own, and the balancer knows all of them', async () => {
    expect(servers).toHaveLength(3)
    const portsOf = (name: string) => servers.map(([, { environment }]) => environment[name] ?? '')
    const [ports, relays] = [portsOf('PORT'), portsOf('RELAY_PORT')]
    const taken = [...ports, ...relays, ...portsOf('OPS_PORT')]
    expect(new Set(taken).size).toBe(9)
    const local = (all: readonly string[]) => all.map((port) => `127.0.0.1:${port}`).join(' ')
    expect(services.balancer?.environment).toMatchObject({ SERVERS: local(ports), RELAYS: local(relays) })
    // The port of the enclave's RELAY_URL, which no server may have taken.
    expect(await readFile('deploy/Caddyfile', 'utf8')).toContain('http://:8002 {')
    expect(taken).not.toContain('8002')
    for (const [name, { env_file: files }] of servers) expect(files, name).toEqual(['server.env'])
  })
})
