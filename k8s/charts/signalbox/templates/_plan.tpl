{{/* Lays the map `over` over the map `into`, key by key; lists and single values are replaced. */}}
{{- define "signalbox.overlay" -}}
{{- range $key, $value := .over -}}
  {{- $below := get $.into $key -}}
  {{- if and (kindIs "map" $value) (kindIs "map" $below) -}}
    {{- include "signalbox.overlay" (dict "into" $below "over" $value) -}}
  {{- else -}}
    {{- $_ := set $.into $key $value -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/*
What is to be rendered, as JSON, once it is known that it can work:
  deployments  name -> its values over `defaults`, with `fullname`, `several` (pods), `keeps` (files), `embedded` (stores) and `kind`
  owners       role -> name of the deployment that has it
*/}}
{{- define "signalbox.plan" -}}
{{- $plan := dict "deployments" dict "owners" dict "problems" list -}}
{{- range $name, $given := .Values.deployments -}}
  {{- $deployment := deepCopy $.Values.defaults -}}
  {{- include "signalbox.overlay" (dict "into" $deployment "over" ($given | default dict)) -}}
  {{- if and $given $deployment.enabled -}}
    {{- include "signalbox.checkRoles" (dict "plan" $plan "name" $name "roles" $deployment.roles) -}}
    {{- range $deployment.roles }}{{ $_ := set $plan.owners . $name }}{{ end -}}
    {{- include "signalbox.describe" (dict "root" $ "name" $name "deployment" $deployment) -}}
    {{- $_ := set $plan.deployments $name $deployment -}}
  {{- end -}}
{{- end -}}
{{- include "signalbox.check" (dict "root" . "plan" $plan) -}}
{{- omit $plan "problems" | toJson -}}
{{- end -}}

{{/* Adds to a deployment what follows from its values: (dict "root" $ "name" NAME "deployment" VALUES). */}}
{{- define "signalbox.describe" -}}
{{- $values := .root.Values -}}
{{- $deployment := .deployment -}}
{{- $roles := $deployment.roles | default list -}}
{{- $ledger := and (has "budget" $roles) (not $values.postgresql.url) -}}
{{- $jobs := and (has "batch" $roles) (not (include "signalbox.batchPostgresql" .root | fromJson).url) -}}
{{- $accounts := and (has "ingest" $roles) (not $values.clickhouse.url) -}}
{{- $keeps := or $ledger $accounts (has "router" $roles) (has "adapter" $roles) (has "batch" $roles) -}}
{{- $_ := set $deployment "fullname" (printf "%s-%s" (include "signalbox.fullname" .root) .name) -}}
{{- $_ := set $deployment "several" (or $deployment.hpa.enabled (gt (int $deployment.replicas) 1)) -}}
{{- $_ := set $deployment "embedded" (concat (ternary (list "postgresql.url") list (or $ledger $jobs)) (ternary (list "clickhouse.url") list $accounts)) -}}
{{- $_ := set $deployment "keeps" $keeps -}}
{{- $_ := set $deployment "kind" (ternary "StatefulSet" "Deployment" (and $keeps $values.spool.persistence.enabled)) -}}
{{- end -}}

{{/* Who calls whom, as JSON: role -> the roles that it calls. */}}
{{- define "signalbox.arrows" -}}
{{- dict
  "router" (list "adapter" "budget" "cache")
  "adapter" (list "budget")
  "ingest" (list "budget")
  "budget" (list "ingest")
  "cache" (list "adapter" "budget")
  "batch" (list "router" "adapter" "budget")
  | toJson -}}
{{- end -}}

{{/* What a process with some roles needs besides, to be reached or given, as a JSON list: (list ROLE...). */}}
{{- define "signalbox.needs" -}}
{{- $needs := dict
  "router" (list "nats" "otlp")
  "adapter" (list "nats" "otlp" "redis" "vendors")
  "ingest" (list "nats" "otlp" "clickhouse")
  "budget" (list "nats" "otlp" "postgresql" "redis")
  "cache" (list "nats" "otlp" "cacheRedis")
  "batch" (list "nats" "otlp" "batchPostgresql") -}}
{{- $all := list "adminKey" -}}
{{- range . }}{{ $all = concat $all (get $needs . | default list) }}{{ end -}}
{{- uniq $all | toJson -}}
{{- end -}}

{{/* Whether a role calls another over the network, since they are in different deployments: "true" or nothing. (dict "plan"
PLAN "from" ROLE "to" ROLE). An adapter beside a router serves that router alone. */}}
{{- define "signalbox.crosses" -}}
{{- $owners := .plan.owners -}}
{{- $from := get $owners .from -}}
{{- $to := get $owners .to -}}
{{- $reserved := and (eq .to "adapter") (eq $to (get $owners "router")) -}}
{{- if and $from $to (ne $from $to) (not $reserved) }}true{{ end -}}
{{- end -}}

{{/* A section of the operator's configuration, as JSON: (list $ SECTION). It may be null. */}}
{{- define "signalbox.section" -}}
{{- $config := (first .).Values.config | default dict -}}
{{- get $config (last .) | default dict | toJson -}}
{{- end -}}

{{/* Whether there is a cache at all: "true" or nothing. */}}
{{- define "signalbox.caches" -}}
{{- if dig "enabled" true (include "signalbox.section" (list . "cache") | fromJson) }}true{{ end -}}
{{- end -}}

{{- define "signalbox.peerPort" -}}
{{ ternary 50052 50051 .Values.mtls.enabled }}
{{- end -}}
