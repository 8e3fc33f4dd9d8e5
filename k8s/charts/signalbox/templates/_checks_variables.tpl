{{/* Whether variables and files that `config` names are where it looks: a slip on either side leaves a vendor out without a word. */}}

{{/* Where the built-in vendors look for their keys, as JSON. */}}
{{- define "signalbox.vendorVariables" -}}
{{- list "OPENAI_API_KEY" "ANTHROPIC_API_KEY" "GEMINI_API_KEY" "XAI_API_KEY" "OPENAI_COMPATIBLE_API_KEY" | toJson -}}
{{- end -}}

{{/* What `config` takes from the environment or from files, as a JSON list of {at, of, roles, to}: `of` is what it says of it,
there are no roles where a vendor is simulated, and `to` is where variables are added. */}}
{{- define "signalbox.namedSources" -}}
{{- $sources := list -}}
{{- range $name, $vendor := include "signalbox.section" (list . "vendors") | fromJson -}}
  {{- range $field := list "api_key" "base_url" -}}
    {{- $roles := ternary list (list "adapter") (eq true ($vendor | default dict).simulate) -}}
    {{- $to := ternary "vendorKeys" "" (eq $field "api_key") -}}
    {{- $sources = append $sources (dict "at" (printf "vendors.%s.%s" $name $field) "of" (get ($vendor | default dict) $field) "roles" $roles "to" $to) -}}
  {{- end -}}
{{- end -}}
{{- range $name, $policy := include "signalbox.section" (list . "content_policies") | fromJson -}}
  {{- $moderation := ($policy | default dict).moderation | default dict -}}
  {{- $sources = append $sources (dict "at" (printf "content_policies.%s.moderation.api_key" $name) "of" $moderation.api_key "roles" (list "router" "batch")) -}}
{{- end -}}
{{- $webhook := (include "signalbox.section" (list . "alerts") | fromJson).webhook | default dict -}}
{{- range list "url" "secret" -}}
  {{- $sources = append $sources (dict "at" (printf "alerts.webhook.%s" .) "of" (get $webhook .) "roles" (list "ingest")) -}}
{{- end -}}
{{- toJson $sources -}}
{{- end -}}

{{/* The variables among them, as a JSON list of {at, roles, variables, to}: one of the variables is enough, for each of the
roles. */}}
{{- define "signalbox.namedVariables" -}}
{{- $named := list -}}
{{- range include "signalbox.namedSources" . | fromJsonArray -}}
  {{- if and (kindIs "map" .of) (dig "env" "" (.of | default dict)) -}}
    {{- $variables := kindIs "string" .of.env | ternary (list .of.env) .of.env -}}
    {{- $named = append $named (dict "at" .at "roles" .roles "variables" $variables "to" (default "deployments.<name>.extraEnv" .to)) -}}
  {{- end -}}
{{- end -}}
{{- toJson $named -}}
{{- end -}}

{{- define "signalbox.checkVariables" -}}
{{- $named := include "signalbox.namedVariables" .root | fromJsonArray -}}
{{- include "signalbox.checkVendorKeys" (dict "root" .root "plan" .plan "named" $named) -}}
{{- range $named -}}
  {{- include "signalbox.checkNamed" (dict "root" $.root "plan" $.plan "source" .) -}}
{{- end -}}
{{- range include "signalbox.namedSources" .root | fromJsonArray -}}
  {{- if and (kindIs "map" .of) (dig "file" "" (.of | default dict)) -}}
    {{- include "signalbox.checkFile" (dict "root" $.root "plan" $.plan "source" .) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Each key is one that a vendor looks for: (dict "root" $ "plan" PLAN "named" LIST). */}}
{{- define "signalbox.checkVendorKeys" -}}
{{- $keys := .root.Values.vendorKeys -}}
{{- include "signalbox.checkTwice" (dict "plan" .plan "at" "vendorKeys" "items" $keys "field" "env") -}}
{{- $owned := include "signalbox.ownVariables" . | fromJson -}}
{{- $builtin := include "signalbox.vendorVariables" . | fromJsonArray -}}
{{- $known := $builtin -}}
{{- range .named }}{{ if hasPrefix "vendors." .at }}{{ $known = concat $known .variables }}{{ end }}{{ end -}}
{{- range $keys -}}
  {{- if or (hasKey $owned .env) (hasPrefix "SIGNALBOX_" .env) (has .env (list "PATH" "HOME")) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "vendorKeys: %s is not a vendor's key but a variable with a meaning of its own; name another, as in OPENAI_API_KEY" .env)) -}}
  {{- else if not (has .env $known) -}}
    {{- include "signalbox.refuse" (list $.plan (printf "vendorKeys: no vendor looks for its key in %s; give one of %s, or name it in config.vendors.<name>.api_key.env" .env (join ", " $builtin))) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* What is looked for is given, as far as can be seen: (dict "root" $ "plan" PLAN "source" {at, roles, variables, to}). */}}
{{- define "signalbox.checkNamed" -}}
{{- $source := .source -}}
{{- range $role := $source.roles -}}
  {{- $name := get $.plan.owners $role -}}
  {{- $deployment := get $.plan.deployments $name | default dict -}}
  {{- $missing := and $deployment (not $deployment.extraEnvFrom) -}}
  {{- range $deployment.extraEnv }}{{ if has .name $source.variables }}{{ $missing = false }}{{ end }}{{ end -}}
  {{- if has "adapter" ($deployment.roles | default list) -}}
    {{- range $.root.Values.vendorKeys }}{{ if has .env $source.variables }}{{ $missing = false }}{{ end }}{{ end -}}
  {{- end -}}
  {{- if $missing -}}
    {{- $to := replace "<name>" $name $source.to -}}
    {{- include "signalbox.refuse" (list $.plan (printf "config.%s.env: nothing gives the role %s the variable %s; add it to %s" $source.at $role (join " or " $source.variables) $to)) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* A file is in a volume that is mounted, unless somebody else puts it there, as injectors do that annotations call:
(dict "root" $ "plan" PLAN "source" {at, of, roles}). */}}
{{- define "signalbox.checkFile" -}}
{{- $file := clean .source.of.file -}}
{{- range $role := .source.roles -}}
  {{- $name := get $.plan.owners $role -}}
  {{- $deployment := get $.plan.deployments $name | default dict -}}
  {{- $missing := and $deployment (not (hasPrefix "/var/lib/signalbox/" $file)) -}}
  {{- range $deployment.extraVolumeMounts -}}
    {{- $mount := clean .mountPath -}}
    {{- if or (eq $mount $file) (hasPrefix (printf "%s/" $mount) $file) }}{{ $missing = false }}{{ end -}}
  {{- end -}}
  {{- range $annotation, $_ := $deployment.podAnnotations }}{{ if contains "inject" $annotation }}{{ $missing = false }}{{ end }}{{ end -}}
  {{- if $missing -}}
    {{- include "signalbox.refuse" (list $.plan (printf "config.%s.file: nothing mounts %s for the role %s; add its folder to deployments.%s.extraVolumeMounts" $.source.at $file $role $name)) -}}
  {{- end -}}
{{- end -}}
{{- end -}}
