import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeCertificate } from '../../support/certificates.ts';
import { temporaryFolder } from '../../support/files.ts';
import { portOf, startExporter, waitFor } from '../../support/program.ts';
import { startPrometheus } from '../../support/prometheus.ts';
import { areMissing, OPENSSL, PROMETHEUS } from '../../support/tools.ts';
import { hashOf } from '../../support/web-config.ts';

describe.skipIf(areMissing(PROMETHEUS, OPENSSL))('system/end-to-end/secure-scrape', () => {
  it('a real Prometheus scrapes over TLS, with a certificate of its own and a password', async () => {
    const authority = makeCertificate({ names: 'DNS:authority' });
    const server = makeCertificate({ names: 'DNS:exporter.test', issuer: authority });
    const client = makeCertificate({ names: 'DNS:prometheus.test', issuer: authority });
    const file = join(temporaryFolder(), 'web.yml');
    writeFileSync(
      file,
      `tls_server_config:
  cert_file: ${server.certFile}
  key_file: ${server.keyFile}
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ${authority.certFile}
  client_allowed_sans: [prometheus.test]
basic_auth_users:
  prometheus: ${hashOf('secret')}
`,
    );
    const demo = startExporter(['demo', '--web.listen-address=127.0.0.1:0', `--web.config.file=${file}`]);
    const prometheus = await startPrometheus(
      { secure: await portOf(demo) },
      {
        scrapeInterval: '2s',
        scraping: {
          scheme: 'https',
          basic_auth: { username: 'prometheus', password: 'secret' },
          tls_config: {
            ca_file: authority.certFile,
            cert_file: client.certFile,
            key_file: client.keyFile,
            server_name: 'exporter.test',
          },
        },
      },
    );
    await waitFor(async () => {
      expect(await prometheus.query('beaconchain_machine_peers{job="secure"}')).not.toEqual([]);
    });
    const targets = await prometheus.targets();
    expect(targets.map(({ health, lastError }) => ({ health, lastError }))).toEqual([{ health: 'up', lastError: '' }]);
    expect(await prometheus.query('min_over_time(up[1m]) < 1'), 'no scrape failed').toEqual([]);
  });
});
