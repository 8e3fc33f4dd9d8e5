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
{{- $protocols := .protocols | default (list "TCP") -}}
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
{{ end -}}

{{/* DNS, and stores as far as there are any: (dict "root" $ "stores" LIST). */}}
{{- define "signalbox.egressToStores" -}}
{{- $values := .root.Values -}}
{{- $egress := $values.networkPolicy.egress -}}
{{- $known := dict
  "postgresql" (dict "urls" (list $values.postgresql.url) "default" 5432 "to" $egress.postgresql.to)
  "redis" (dict "urls" (list $values.redis.url) "default" 6379 "to" $egress.redis.to)
  "cacheRedis" (dict "urls" (list $values.cache.redis.url) "default" 6379 "to" $egress.cacheRedis.to)
  "clickhouse" (dict "urls" (list $values.clickhouse.url) "default" (ternary 443 80 (hasPrefix "https:" $values.clickhouse.url)) "to" $egress.clickhouse.to)
  "nats" (dict "urls" $values.nats.servers "default" 4222 "to" $egress.nats.to)
  "otlp" (dict "urls" (list $values.telemetry.otlpEndpoint) "default" 4317 "to" $egress.otlp.to) -}}
{{- include "signalbox.egressRule" (dict "to" $egress.dns.to "ports" $egress.dns.ports "protocols" (list "UDP" "TCP")) -}}
{{- range .stores -}}
  {{- $store := get $known . -}}
  {{- $urls := compact $store.urls -}}
  {{- if $urls -}}
    {{- $ports := include "signalbox.ports" (dict "urls" $urls "default" $store.default) | fromJsonArray -}}
    {{- include "signalbox.egressRule" (dict "to" $store.to "ports" $ports) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Stores by role, as JSON. */}}
{{- define "signalbox.storesOf" -}}
{{- dict
  "router" (list "nats" "otlp")
  "adapter" (list "nats" "otlp" "redis")
  "ingest" (list "nats" "otlp" "clickhouse")
  "budget" (list "nats" "otlp" "postgresql" "redis")
  "cache" (list "nats" "otlp" "cacheRedis")
  | toJson -}}
{{- end -}}

{{/* Ports at which vendors are. */}}
{{- define "signalbox.vendorPorts" -}}
{{- $vendors := .Values.networkPolicy.egress.vendors -}}
{{- $ports := list -}}
{{- if $vendors.https }}{{ $ports = append $ports 443 }}{{ end -}}
{{- range $name, $vendor := .Values.config.vendors -}}
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
