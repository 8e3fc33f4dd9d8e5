{{/* The ports of a list of URLs, each once, as JSON: (dict "urls" LIST "default" PORT). */}}
{{- define "signalbox.ports" -}}
{{- $ports := list -}}
{{- range .urls -}}
  {{- $authority := regexReplaceAll "^[A-Za-z0-9+.-]*://" . "" | regexFind "^[^/?]*" -}}
  {{- range splitList "," (regexReplaceAll "^.*@" $authority "") -}}
    {{- $port := regexFind ":[0-9]+$" . | trimPrefix ":" -}}
    {{- $ports = append $ports (int (default $.default $port)) -}}
  {{- end -}}
{{- end -}}
{{- uniq $ports | toJson -}}
{{- end -}}

{{/* A rule of what may be reached: (dict "to" PEERS "ports" LIST "protocols" LIST). Without peers, anywhere. */}}
{{- define "signalbox.egressRule" -}}
{{- $protocols := .protocols | default (list "TCP") }}
- ports:
    {{- range $port := .ports }}
    {{- range $protocols }}
    - {protocol: {{ . }}, port: {{ int $port }}}
    {{- end }}
    {{- end }}
  {{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* DNS, and stores as far as there are any: (dict "root" $ "stores" LIST). */}}
{{- define "signalbox.egressToStores" -}}
{{- $values := .root.Values -}}
{{- $egress := $values.networkPolicy.egress -}}
{{- $jobs := include "signalbox.batchPostgresql" .root | fromJson -}}
{{- $known := dict
  "postgresql" (dict "urls" (list $values.postgresql.url) "default" 5432 "to" $egress.postgresql.to)
  "batchPostgresql" (dict "urls" (list $jobs.url) "default" 5432 "to" $egress.postgresql.to)
  "redis" (dict "urls" (list $values.redis.url) "default" 6379 "to" $egress.redis.to)
  "cacheRedis" (dict "urls" (list $values.cache.redis.url) "default" 6379 "to" $egress.cacheRedis.to)
  "clickhouse" (dict "urls" (list $values.clickhouse.url) "default" (ternary 443 80 (hasPrefix "https:" $values.clickhouse.url)) "to" $egress.clickhouse.to)
  "nats" (dict "urls" $values.nats.servers "default" 4222 "to" $egress.nats.to)
  "otlp" (dict "urls" (list $values.telemetry.otlpEndpoint) "default" (ternary 443 80 (hasPrefix "https:" $values.telemetry.otlpEndpoint)) "to" $egress.otlp.to) -}}
{{- include "signalbox.egressRule" (dict "to" $egress.dns.to "ports" $egress.dns.ports "protocols" (list "UDP" "TCP")) | trim }}
{{- range .stores -}}
  {{- $store := get $known . | default (dict "urls" list) -}}
  {{- $urls := compact $store.urls -}}
  {{- if $urls -}}
    {{- $ports := include "signalbox.ports" (dict "urls" $urls "default" $store.default) | fromJsonArray -}}
    {{- include "signalbox.egressRule" (dict "to" $store.to "ports" $ports) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Ports at which vendors are. */}}
{{- define "signalbox.vendorPorts" -}}
{{- $vendors := .Values.networkPolicy.egress.vendors -}}
{{- $ports := list -}}
{{- if $vendors.https }}{{ $ports = append $ports 443 }}{{ end -}}
{{- range $name, $vendor := include "signalbox.section" (list . "vendors") | fromJson -}}
  {{- $url := ternary (dig "base_url" "" ($vendor | default dict)) "" (kindIs "map" $vendor) -}}
  {{- if and (kindIs "string" $url) $url -}}
    {{- $default := ternary 443 80 (hasPrefix "https:" $url) -}}
    {{- $ports = concat $ports (include "signalbox.ports" (dict "urls" (list $url) "default" $default) | fromJsonArray) -}}
  {{- end -}}
{{- end -}}
{{- range $vendors.ports }}{{ $ports = append $ports . }}{{ end -}}
{{- $whole := list }}{{ range $ports }}{{ $whole = append $whole (int .) }}{{ end -}}
{{- uniq $whole | toJson -}}
{{- end -}}

{{/* Ports of what else a role reaches by the operator's configuration: the alerts' webhook, and moderation endpoints.
(dict "root" $ "role" ROLE) */}}
{{- define "signalbox.hookPorts" -}}
{{- $urls := list -}}
{{- if eq .role "ingest" -}}
  {{- $alerts := include "signalbox.section" (list .root "alerts") | fromJson -}}
  {{- with ($alerts.webhook | default dict).url }}{{ $urls = append $urls . }}{{ end -}}
{{- else if has .role (list "router" "batch") -}}
  {{- range $name, $policy := include "signalbox.section" (list .root "content_policies") | fromJson -}}
    {{- with ($policy | default dict).moderation }}{{ $urls = append $urls (.url | default "https:") }}{{ end -}}
  {{- end -}}
{{- end -}}
{{- $ports := list -}}
{{- range $urls -}}
  {{- $url := ternary . "https:" (kindIs "string" .) -}}
  {{- $ports = concat $ports (include "signalbox.ports" (dict "urls" (list $url) "default" (ternary 80 443 (hasPrefix "http:" $url))) | fromJsonArray) -}}
{{- end -}}
{{- uniq $ports | toJson -}}
{{- end -}}
