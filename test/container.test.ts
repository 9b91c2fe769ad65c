import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { OLDEST_NODE } from '../src/service/version.js'
import { bareServer } from './support/bareServer.js'
import { built } from './support/built.js'
import { type Instruction, instructionsOf, stagesOf } from './support/dockerfile.js'
import { startHttpServer } from './support/httpServer.js'
import { closureOf } from './support/lockFile.js'
import { startTestResident } from './support/residentHarness.js'
import { temporaryDirectory } from './support/temporaryDirectory.js'

// No container can be built here: the tests read the images' file, and run its commands by themselves.

const all = instructionsOf(readFileSync('Dockerfile', 'utf8'))
const stages = stagesOf(all)
const IMAGES = ['server', 'enclave'] as const

const versions = z.record(z.string(), z.string())
const manifestSchema = z.object({
  ...{ version: z.string(), dependencies: versions.default({}), optionalDependencies: versions.default({}) },
})
const manifestOf = (path: string) => manifestSchema.parse(JSON.parse(readFileSync(path, 'utf8')))

const valuesOf = (instructions: readonly Instruction[], name: string) =>
  instructions.filter((entry) => entry.name === name).map(({ value }) => value)
const execForm = (text: string): string[] =>
  z.array(z.string()).parse(JSON.parse(text.slice(text.indexOf('['))))

describe('the base image', () => {
  test('is a long-term release of Node that gets updates, the repository’s own, pinned by its digest, the same in each stage', () => {
    const [base = ''] = valuesOf(all, 'ARG')
    const pinned = /^NODE_IMAGE=node:(\d+)\.\d+\.\d+-[a-z]+-slim@sha256:[0-9a-f]{64}$/.exec(base)
    const major = Number(pinned?.[1])
    expect(major).toBeGreaterThanOrEqual(OLDEST_NODE)
    // Odd ones get no long-term updates.
    expect(major % 2).toBe(0)
    const bases = valuesOf(all, 'FROM').map((value) => value.split(' ')[0])
    expect(bases).toHaveLength(4)
    for (const base of bases) expect(base).toMatch(/^\$\{NODE_IMAGE\}$/)
    expect(base).toContain(`node:${manifestOf('runtime/package.json').version}-`)
  })
})

describe.each(IMAGES)('the image of the %s', (name) => {
  const image = stages.get(name) ?? []

  test('does not run as root, nothing after USER needs it, and it writes to its data alone', () => {
    expect(valuesOf(image, 'USER')).toEqual([name === 'server' ? '10001:10001' : '10002:10002'])
    const afterUser = image.slice(image.findIndex((entry) => entry.name === 'USER'))
    expect(afterUser.filter((entry) => ['RUN', 'COPY', 'ADD'].includes(entry.name))).toEqual([])
    const [uid] = (valuesOf(image, 'USER')[0] ?? '').split(':')
    expect(valuesOf(image, 'RUN')).toEqual([`install -d -o ${uid} -g ${uid} -m 700 /data`])
    expect(valuesOf(image, 'COPY').filter((value) => value.includes('--chown'))).toEqual([])
  })

  test('gets signals itself: Node is process 1, and the program is the built one', () => {
    const command = execForm(valuesOf(image, 'CMD')[0] ?? '')
    expect(command[0]).toBe('node')
    const program = name === 'server' ? ['dist/server/main.js'] : ['dist/enclave/main.js', 'serve']
    expect(command.slice(2)).toEqual(program)
    expect(readFileSync('package.json', 'utf8')).toContain(`"${command.join(' ')}"`)
  })
})

describe('the two images', () => {
  test('have no secret in them: of the environment they set paths and addresses alone', () => {
    const set = IMAGES.flatMap((name) => valuesOf(stages.get(name) ?? [], 'ENV'))
    expect(set).toEqual([
      'NODE_ENV=production DATA_DIR=/data ENCLAVE_URL=http://127.0.0.1:8700/',
      'NODE_ENV=production ENCLAVE_ENV_FILE=/run/secrets/enclave.env ENCLAVE_STATE_DIR=/data ENCLAVE_LISTEN=127.0.0.1:8700',
    ])
    expect([valuesOf(all, 'ARG').length, valuesOf(all, 'ENV').length]).toEqual([1, 2])
  })

  test('are two: the server’s has no enclave, the enclave’s has no server, and is what a plain build makes', () => {
    const build = valuesOf(stages.get('build') ?? [], 'RUN').join()
    expect(build).toContain('cp -r dist /server && rm -r /server/enclave')
    expect(build).toContain('npm run build:programs')
    expect(build).toContain('cp dist/enclave/main.js* dist/enclave/attested.js* /enclave/enclave')
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const withSandbox = [scripts.build, scripts['build:programs']].map((each) => each.includes('src/sandbox'))
    expect(withSandbox).toEqual([true, false])
    expect(valuesOf(stages.get('enclave') ?? [], 'COPY').join()).not.toContain('node_modules')
    for (const name of IMAGES)
      expect(valuesOf(stages.get(name) ?? [], 'COPY')).toContain(`--from=build /${name} ./dist`)
    expect([...stages.keys()].at(-1)).toBe('server')
  })

  test('take only what is named into their build, and neither environment files nor the sandbox', () => {
    const lines = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(lines[0]).toBe('*')
    expect(lines.slice(-2)).toEqual(['src/sandbox', '**/.env*'])
    const taken = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    const copied = valuesOf(all, 'COPY')
      .filter((value) => !value.startsWith('--from'))
      .flatMap((value) => value.split(' ').slice(0, -1))
    expect(new Set(copied)).toEqual(new Set(taken))
  })
})

describe('the size of the images', () => {
  /** The table of docs/operations/first-day.md: what each image adds to its base, in MB at most. */
  const rows = [
    ...readFileSync('docs/operations/first-day.md', 'utf8').matchAll(
      /^\| `--target (server|enclave)` +\| (\d+) MB +\| (\d+) MB +\|$/gm,
    ),
  ]
  const budgets = new Map(
    rows.map(([, name, programs, packages]) => [name, [Number(programs), Number(packages)]]),
  )
  const MB = 1_000_000

  /** Bytes of the files below a path, without the folders of these names in it. */
  function bytesIn(path: string, without: readonly string[] = []): number {
    if (!statSync(path).isDirectory()) return statSync(path).size
    const entries = readdirSync(path).filter((name) => !without.includes(name))
    return entries.reduce((sum, name) => sum + bytesIn(join(path, name)), 0)
  }

  function packagesOf(): number {
    const { dependencies, optionalDependencies } = manifestOf('package.json')
    const installed = closureOf(Object.keys({ ...dependencies, ...optionalDependencies }))
    return installed.reduce((sum, { at }) => sum + bytesIn(at, ['node_modules']), 0)
  }

  const bundlesOf = (directory: string) =>
    ['main.js', 'main.js.map'].reduce((sum, name) => sum + statSync(built(`${directory}/${name}`)).size, 0)

  test.each([
    // .dockerignore keeps the sandbox out of the build.
    ['server', () => [bytesIn(dirname(built('server')), ['enclave', 'sandbox']), packagesOf()]],
    ['enclave', () => [bundlesOf('enclave') + bundlesOf('enclave/doctor'), 0]],
  ] as const)('of the %s is documented, and not above that', (name, measure) => {
    const sizes = measure().map((bytes) => Math.ceil(bytes / MB))
    process.stdout.write(`image of the ${name}: programs ${sizes[0]} MB, packages ${sizes[1]} MB\n`)
    const most = budgets.get(name) ?? []
    expect(most).toHaveLength(2)
    for (const [index, size] of sizes.entries()) {
      expect(size).toBeLessThanOrEqual(most[index] ?? 0)
      // A budget that is far above what it bounds bounds nothing.
      expect(size).toBeGreaterThanOrEqual(Math.floor((most[index] ?? 0) * 0.7))
    }
  })
})

describe('the health checks', () => {
  const check = (name: (typeof IMAGES)[number], port: number | string) => {
    const [program = '', ...args] = execForm(valuesOf(stages.get(name) ?? [], 'HEALTHCHECK')[0] ?? '')
    return promisify(execFile)(program, args, {
      env: { PATH: process.env.PATH, PORT: String(port), ENCLAVE_LISTEN: `127.0.0.1:${port}` },
    })
  }

  test('pass on programs that run', async () => {
    const passed = { stdout: '', stderr: '' }
    const server = await bareServer()
    await expect(check('server', server.port)).resolves.toMatchObject(passed)
    const directory = await temporaryDirectory()
    const enclave = await startTestResident(async () => ({ outcome: 'done' }), {
      serverUrl: 'http://127.0.0.1:9',
      stateDirectory: `${directory}/state`,
    })
    await expect(check('enclave', new URL(enclave.url).port)).resolves.toMatchObject(passed)
  })

  test.each(IMAGES)(
    'the check of the %s fails where no server listens, and where the answer is an error',
    async (name) => {
      const gone = await startHttpServer((_req, res) => res.end())
      await gone.stop()
      await expect(check(name, new URL(gone.url).port)).rejects.toMatchObject({ code: 1 })
      const broken = await startHttpServer((_req, res) => res.writeHead(503).end())
      onTestFinished(() => broken.stop())
      await expect(check(name, new URL(broken.url).port)).rejects.toMatchObject({ code: 1 })
    },
  )
})
