// Before `npm publish`: refuses while the owner has chosen no licence (docs/decisions/0029). Also names what else npm needs of the owner.
import { existsSync, readFileSync } from 'node:fs'
import { env, exit, stderr } from 'node:process'

const { license, repository } = JSON.parse(readFileSync('package.json', 'utf8'))
const missing = [
  [license !== 'UNLICENSED', 'a licence: `license` in packages/client/package.json'],
  [existsSync('LICENSE'), 'the text of the licence: packages/client/LICENSE'],
  [
    repository !== undefined,
    '`repository` in packages/client/package.json, which npm compares with the provenance',
  ],
  [env.GITHUB_ACTIONS || env.GITLAB_CI, 'a CI that npm takes provenance from: GitHub Actions or GitLab'],
].flatMap(([isThere, what]) => (isThere ? [] : [what]))
if (missing.length > 0)
  stderr.write(`not published, for want of:\n${missing.map((each) => `- ${each}\n`).join('')}`)
exit(missing.length === 0 ? 0 : 1)
