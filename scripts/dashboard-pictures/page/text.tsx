import { renderMarkdown } from '@grafana/data';
import type { PanelProps } from './panel-props.ts';

/** Like TextPanel of Grafana. */
export function Text({ panel }: PanelProps) {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the text is that of the dashboard.
  return <div className="markdown-html" dangerouslySetInnerHTML={{ __html: renderMarkdown(panel.options.content) }} />;
}
